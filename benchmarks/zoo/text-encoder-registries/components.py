import torch
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, words=900, width=192):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.read = nn.GRU(width, width, batch_first=True)

    def forward(self, ids):
        return self.read(self.words(ids))[0].mean(1)


class Denoiser(nn.Module):
    def __init__(self, pixels=192, text=192, width=128):
        super().__init__()
        self.enter = nn.Linear(pixels + text, width)
        self.leave = nn.Linear(width, pixels)

    def forward(self, noisy, text):
        return self.leave(torch.relu(self.enter(torch.cat((noisy, text), -1))))


class Components(dict):
    """What a run is made of, by name."""

    def __getattr__(self, name):
        return self[name]

    def drop(self, name):
        return self.pop(name, None) is not None


def build():
    torch.manual_seed(80)
    return Components(text_encoder=TextEncoder().eval().requires_grad_(False), denoiser=Denoiser())
