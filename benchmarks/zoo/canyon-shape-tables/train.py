import torch
from tables import waves
from terrain import CanyonNet, loss_of, tiles


def learn(model, optimizer, radar, elevation):
    loss = loss_of(model, radar, elevation)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=54):
    torch.manual_seed(290)
    model = CanyonNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, tile in enumerate(tiles(steps)):
        loss = learn(model, optimizer, *tile)
        if step % 9 == 0:
            print(f"tile {step:2d} loss {loss:.4f} shapes at hand {len(waves.entries)}")


if __name__ == "__main__":
    main()
