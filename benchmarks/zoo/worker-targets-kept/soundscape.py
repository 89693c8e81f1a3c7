import torch
from torch.utils.data import Dataset


class Clips(Dataset):
    """Short clips with a mask of the sounds heard in each frame."""

    def __init__(self, count=96, frames=200, sounds=20):
        self.count, self.frames, self.sounds = count, frames, sounds

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        generator = torch.Generator().manual_seed(number)
        heard = (torch.rand(self.frames, self.sounds, generator=generator) > 0.9).float()
        clip = heard.repeat(1, 2) + 0.2 * torch.randn(self.frames, 2 * self.sounds, generator=generator)
        return clip, heard


class Recall:
    def __init__(self):
        self.guesses, self.targets = [], []

    def update(self, scores, targets):
        self.guesses.append((scores > 0).sum((0, 1)).tolist())
        self.targets.append(targets)

    def compute(self):
        heard = sum(target.sum((0, 1)) for target in self.targets)
        guessed = torch.tensor(self.guesses).sum(0)
        return (guessed / heard.clamp_min(1)).clamp_max(1).mean().item()
