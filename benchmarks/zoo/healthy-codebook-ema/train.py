import torch
from codebook import Codebook
from torch import nn
from torch.nn import functional


class GestureCoder(nn.Module):
    def __init__(self, channels=6, width=32):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv1d(channels, width, 5, 2, 2), nn.ReLU(), nn.Conv1d(width, width, 5, 2, 2))
        self.book = Codebook(width=width)
        self.decode = nn.Sequential(
            nn.ConvTranspose1d(width, width, 4, 2, 1), nn.ReLU(), nn.ConvTranspose1d(width, channels, 4, 2, 1)
        )

    def forward(self, x):
        codes, commitment = self.book(self.encode(x).transpose(1, 2))
        return self.decode(codes.transpose(1, 2)), commitment


def gestures(count, batch=16, length=128):
    generator = torch.Generator().manual_seed(67)
    time = torch.linspace(0, 12, length)
    for _ in range(count):
        speed = 0.5 + torch.rand(batch, 6, 1, generator=generator)
        yield (speed * time).sin() + 0.05 * torch.randn(batch, 6, length, generator=generator)


def main(steps=50):
    torch.manual_seed(66)
    model = GestureCoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, batch in enumerate(gestures(steps)):
        found, commitment = model(batch)
        loss = functional.mse_loss(found, batch) + 0.25 * commitment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del found, commitment
        if step % 10 == 0:
            print(f"{step:2d} {loss.item():.4f}, perplexity {model.book.perplexity():.1f}")
        del loss


if __name__ == "__main__":
    main()
