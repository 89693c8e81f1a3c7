import torch
from splats import Splats
from viewer import Viewer


def optimise(splats, steps, generator):
    optimizer = torch.optim.SGD(splats.parameters(), lr=0.05)
    for step in range(steps):
        pixels = torch.rand(256, 2, generator=generator)
        target = torch.stack([pixels[:, 0], pixels[:, 1], pixels.prod(1)], 1)
        which = torch.randint(len(splats.means), (400,), generator=generator)
        loss = (splats(pixels, which) - target).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(len(splats.means), step, f"{loss.item():.4f}")
    optimizer.zero_grad()


def main(viewer):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    coarse = Splats(20000)
    viewer.add_splats("coarse", coarse)
    optimise(coarse, 10, generator)
    fine = coarse.pruned(3000)
    del coarse
    optimise(fine, 40, generator)
    viewer.add_splats("fine", fine)
    print(viewer)


if __name__ == "__main__":
    main(Viewer())
