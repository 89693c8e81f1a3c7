import torch
from server import BatchServer
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.into = nn.Conv1d(1, width, 9, padding=4)
        self.out = nn.Conv1d(width, 1, 9, padding=4)

    def forward(self, signals):
        return signals - self.out(torch.relu(self.into(signals)))


def requests(count, samples=4000, seed=90):
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        yield number, torch.randn(1, samples, generator=generator)


def main(make_server=BatchServer, count=200):
    torch.manual_seed(29)
    server = make_server(Denoiser().eval())
    loudness = 0.0
    for number, signal in requests(count):
        server.submit(number, signal)
        for done in server.pump():
            loudness = max(loudness, server.result(done).abs().amax().item())
        if number % 50 == 49:
            print(f"{number + 1} requests, loudest {loudness:.4f}")


if __name__ == "__main__":
    main()
