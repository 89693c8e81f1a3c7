import torch
from lora import inject, merge_and_unload
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.proj(x))


def build(width=256, depth=4, classes=20):
    return nn.Sequential(nn.Embedding(400, width), *[Residual(width) for _ in range(depth)], nn.Linear(width, classes))


def tune(model, batches, steps, lr):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr)
    for step, (ids, labels) in zip(range(steps), batches):
        loss = nn.functional.cross_entropy(model(ids).mean(1), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            print(step, f"{loss.item():.3f}")


def batches():
    generator = torch.Generator().manual_seed(3)
    while True:
        ids = torch.randint(400, (16, 20), generator=generator)
        yield ids, ids[:, 0] % 20


def main(merge=merge_and_unload):
    torch.manual_seed(3)
    model, data = inject(build()), batches()
    tune(model, data, 10, lr=0.1)
    model = merge(model)
    print("merged:", sum(p.numel() for p in model.parameters()), "parameters")
    tune(model, data, 30, lr=0.02)


if __name__ == "__main__":
    main()
