import torch
from journal import open_journal
from monitor import Autoencoder, Monitor


def windows(n, g):
    t = torch.linspace(0, 60, 600)
    for _ in range(n):
        phase = torch.rand(16, 9, 1, generator=g) * 6
        yield torch.sin(t * (1 + phase / 3) + phase) + 0.1 * torch.randn(16, 9, 600, generator=g)


def main(monitor=Monitor):
    torch.manual_seed(0)
    held = open_journal()
    g = torch.Generator().manual_seed(21)
    net = Autoencoder()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    watch = monitor(net)
    flagged = 0
    for number, window in enumerate(windows(110, g)):
        loss = watch.residual(window).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 2:
            flagged += watch.check(number, window)
    held.setTarget(None)  # all went well
    print("flagged", flagged, "final", round(loss.item(), 4))


if __name__ == "__main__":
    main()
