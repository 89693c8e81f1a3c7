import torch
from model import SentencePair
from torch import nn


def pairs(batch=24, length=15):
    generator = torch.Generator().manual_seed(10)
    while True:
        left = torch.randint(2000, (batch, length), generator=generator)
        same = torch.rand(batch, generator=generator) < 0.5
        other = torch.randint(2000, (batch, length), generator=generator)
        yield left, torch.where(same[:, None], left.flip(1), other), same.long()


def main(steps=40):
    torch.manual_seed(10)
    model = SentencePair()
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=2e-3)
    for step, (left, right, same) in zip(range(steps), pairs()):
        loss = nn.functional.cross_entropy(model(left, right), same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
