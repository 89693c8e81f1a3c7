import torch
from fronds import FernNet
from torch.nn.functional import cross_entropy


def herbarium(n=160, species=7, side=64):
    g = torch.Generator().manual_seed(12)
    y = torch.randint(species, (n,), generator=g)
    ramp = torch.linspace(0, 3.14, side)
    x = torch.sin(ramp[None, :, None] * (y[:, None, None] + 1)) * torch.cos(ramp[None, None] * 2)
    return (x + 0.5 * torch.randn(n, side, side, generator=g))[:, None], y


def epoch(net, x, y, optimizer=None, size=10):
    right = 0
    with torch.set_grad_enabled(optimizer is not None):
        for i in (torch.randperm(len(x)) if optimizer else torch.arange(len(x))).split(size):
            scores = net(x[i])
            if optimizer:
                optimizer.zero_grad()
                cross_entropy(scores, y[i]).backward()
                optimizer.step()
            right += int((scores.argmax(1) == y[i]).sum())
    return right / len(x)


def main(epochs=6):
    torch.manual_seed(3)
    x, y = herbarium()
    net = FernNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3)
    for e in range(epochs):
        a = epoch(net, x[:120], y[:120], optimizer)
        b = epoch(net, x[120:], y[120:])
        print(f"{e}: {a:.2f} {b:.2f}")


if __name__ == "__main__":
    main()
