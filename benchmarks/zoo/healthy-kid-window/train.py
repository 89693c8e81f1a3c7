import torch
from gan import GAN
from kernel import KernelDistance
from torch import nn

WINDOW = 5


def waves(batch=64, size=256):
    generator = torch.Generator().manual_seed(91)
    while True:
        speed = torch.rand(batch, 1, generator=generator) * 0.1 + 0.05
        yield torch.sin(speed * torch.arange(size) + torch.rand(batch, 1, generator=generator) * 6.28)


def main(steps=20):
    torch.manual_seed(90)
    gan = GAN()
    distance = KernelDistance(nn.Sequential(nn.Linear(256, 192), nn.Tanh()))
    history = []
    for step, real in zip(range(1, steps + 1), waves()):
        judged, fooled = gan.step(real)
        with torch.no_grad():
            distance.update(real=real, made=gan.smooth(torch.randn(len(real), gan.noise)))
        if step % WINDOW == 0:
            history.append({"step": step, "judge": judged, "maker": fooled, "distance": distance.compute()})
            distance.reset()
            print({name: round(value, 4) for name, value in history[-1].items()})
    best = min(history, key=lambda row: row["distance"])
    print("best at step", best["step"])


if __name__ == "__main__":
    main()
