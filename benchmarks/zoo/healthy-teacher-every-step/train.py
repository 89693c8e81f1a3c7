import torch
from distil import Distillation
from torch import nn


def net(width):
    return nn.Sequential(nn.Conv2d(1, width, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10))


def main(steps=40):
    torch.manual_seed(1)
    teacher, student = net(48), net(8)
    probe = torch.zeros(1, 1, 28, 28)
    teacher(probe), student(probe)
    task = Distillation(teacher, student)
    optimizer = torch.optim.AdamW(task.student.parameters(), lr=1e-3)
    for step in range(steps):
        loss = task(torch.rand(32, 1, 28, 28))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            print(step, f"{loss.item():.5f}")


if __name__ == "__main__":
    main()
