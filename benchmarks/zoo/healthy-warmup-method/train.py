import torch
from schedules import Schedule
from torch import nn


class Ranker(nn.Module):
    def __init__(self, users=500, items=800, width=32):
        super().__init__()
        self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
        self.mix = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, user, item):
        return self.mix(torch.cat([self.users(user), self.items(item)], -1)).squeeze(-1)


def main(steps=50):
    torch.manual_seed(8)
    model = Ranker()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0)
    schedule = Schedule(optimizer, peak=5e-3, total=steps)
    for step in range(steps):
        user, item = torch.randint(500, (256,)), torch.randint(800, (256,))
        loss = nn.functional.binary_cross_entropy_with_logits(model(user, item), ((user + item) % 2).float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.4f}", f"{optimizer.param_groups[0]['lr']:.5f}")


if __name__ == "__main__":
    main()
