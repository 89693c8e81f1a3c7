import torch
from torch import nn


class Vocoder(nn.Module):
    def __init__(self, mels=32, width=48, hop=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(mels, width, 5, padding=2),
            nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(width, width // 2, 2 * hop, hop, hop // 2),
            nn.LeakyReLU(0.1),
            nn.Conv1d(width // 2, 1, 7, padding=3),
        )

    def forward(self, mels):
        return torch.tanh(self.body(mels)).squeeze(1)


def spectral_distance(fake, real, window=64):
    def magnitude(wave):
        return torch.stft(wave, window, window // 2, window=torch.hann_window(window), return_complex=True).abs()

    return (magnitude(fake) - magnitude(real)).abs().mean()


class Speech:
    def __init__(self, batch=8, frames=64, mels=32, hop=32, seed=47):
        self.batch, self.frames, self.mels, self.hop = batch, frames, mels, hop
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self):
        mels = torch.randn(self.batch, self.mels, self.frames, generator=self.generator)
        wave = mels.mean(1).repeat_interleave(self.hop, 1)
        return mels, wave.sin()
