import torch
from edm import Loop, Preconditioned, SigmaPlanes


def dunes(n=40, side=48):
    g = torch.Generator().manual_seed(30)
    ramp = torch.linspace(0, 12, side)
    waves = torch.sin(ramp[None, :, None] + torch.rand(n, 1, 1, generator=g) * 6 + ramp[None, None] / 3)
    return waves[:, None].repeat(1, 3, 1, 1) * 0.5


def main(planes=SigmaPlanes, steps=90):
    torch.manual_seed(11)
    loop = Loop(Preconditioned(planes()), dunes())
    for step in range(steps):
        loss = loop.step()
        if step % 30 == 29:
            print(step + 1, f"{loss:.3f} preview std {loop.preview():.3f}")


if __name__ == "__main__":
    main()
