import torch
from bandit import ClickModel, clicks
from drift import DriftWatch, Schedule
from torch.nn import functional


def main(watch_class=DriftWatch, steps=48):
    torch.manual_seed(45)
    model = ClickModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    schedule, watch = Schedule(optimizer, (0.2, 0.1, 0.05), length=2), watch_class(optimizer)
    schedule.listeners.append(watch.begin)
    for step, (users, items, clicked) in enumerate(clicks(steps)):
        schedule.step()
        optimizer.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(model(users, items), clicked)
        loss.backward()
        optimizer.step()
        if step % 12 == 11:
            print(step, f"{loss.item():.4f} moved {watch.far[step // 2]:.4f}")


if __name__ == "__main__":
    main()
