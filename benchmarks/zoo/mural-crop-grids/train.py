import itertools

import torch
from grids import GridTable
from mural import CropSampler, ImplicitMural, painted_wall


def restore(model, optimizer, height, width, target):
    loss = (model(height, width) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(table=GridTable, steps=48):
    torch.manual_seed(160)
    model = ImplicitMural(table())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step, crop in enumerate(itertools.islice(CropSampler(painted_wall()), steps)):
        loss = restore(model, optimizer, *crop)
        if step % 8 == 0:
            print(f"{step:02d} {crop[0]}x{crop[1]} {loss:.4f}")


if __name__ == "__main__":
    main()
