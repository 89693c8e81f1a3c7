import torch
from nights import nights
from stager import ScanBlock, SleepStager
from torch.nn import functional


def train(net, steps):
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step, (night, labels) in enumerate(nights(steps)):
        logits = net(night)
        loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 10 == 9:
            right = (logits.argmax(-1) == labels).float().mean().item()
            print(f"{step + 1:3d} loss {loss.item():.4f} right {right:.3f}")


def main(block=ScanBlock, steps=50):
    torch.manual_seed(22)
    train(SleepStager(block=block), steps)


if __name__ == "__main__":
    main()
