import torch
from lessons import Curriculum
from torch import nn


def walker():
    return nn.Sequential(
        nn.Conv2d(2, 12, 3, 2, 1), nn.ReLU(), nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 36, 4)
    )


def main(curriculum_class=Curriculum, steps=60):
    torch.manual_seed(3)
    net = walker()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    curriculum = curriculum_class(patience=2)
    for step in range(steps):
        mazes, moves = curriculum.draw()
        logits = net(mazes)
        loss = nn.functional.cross_entropy(logits, moves)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curriculum.told((logits.argmax(1) == moves).float().mean().item())
        if step % 12 == 0:
            print(f"{step:2d} {loss.item():.4f}, {curriculum.started} lessons begun")


if __name__ == "__main__":
    main()
