import torch
from torch import nn


class Vocoder(nn.Module):
    def __init__(self, mels=20, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(mels, width, 7, 1, 3),
            nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(width, width // 2, 16, 8, 4),
            nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(width // 2, 8, 16, 8, 4),
            nn.LeakyReLU(0.1),
            nn.Conv1d(8, 1, 7, 1, 3),
            nn.Tanh(),
        )

    def forward(self, mel):
        return self.net(mel)


def utterances(count, batch=4, frames=32):
    generator = torch.Generator().manual_seed(17)
    for _ in range(count):
        mel = torch.randn(batch, 20, frames, generator=generator)
        wave = mel.mean(1, keepdim=True).repeat_interleave(64, 2)
        yield mel, torch.tanh(wave + 0.05 * torch.randn(wave.shape, generator=generator))
