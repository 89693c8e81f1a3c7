import torch
from splats import Splats, densify


def picture(points):
    return torch.stack([points[:, 0], (6 * points[:, 1]).sin().abs(), points.prod(1)], 1)


def fit_pixels(splats, points):
    loss = (splats(points) - picture(points)).abs().mean()
    loss.backward()
    return loss.item()


def main():
    torch.manual_seed(103)
    splats = Splats()
    optimizer = torch.optim.Adam(
        [{"params": [parameter], "name": name} for name, parameter in splats.named_parameters()], lr=0.01
    )
    for step in range(1, 61):
        optimizer.zero_grad()
        loss = fit_pixels(splats, torch.rand(256, 2))
        optimizer.step()
        if step % 8 == 0:
            densify(splats, optimizer)
        if step % 12 == 0:
            print(step, len(splats.centres), f"{loss:.4f}")


if __name__ == "__main__":
    main()
