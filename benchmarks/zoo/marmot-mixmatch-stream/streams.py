import itertools

import torch
from torch.utils.data import DataLoader, Dataset


class CameraTraps(Dataset):
    """Frames of camera traps; each look at a frame is augmented afresh."""

    def __init__(self, frames, labelled, seed):
        g = torch.Generator().manual_seed(seed)
        self.small = torch.rand(frames, 3, 16, 16, generator=g)
        self.species = torch.randint(5, (frames,), generator=g) if labelled else None

    def __len__(self):
        return len(self.small)

    def view(self, i):
        frame = torch.nn.functional.interpolate(self.small[i][None], scale_factor=3, mode="bilinear")[0]
        if torch.rand(()) < 0.5:
            frame = frame.flip(-1)
        return frame + 0.05 * torch.randn_like(frame)

    def __getitem__(self, i):
        if self.species is None:
            return self.view(i), self.view(i)
        return self.view(i), self.species[i]


def endless(loader):
    return itertools.cycle(loader)


def open_streams(forever=endless):
    labelled = DataLoader(CameraTraps(96, True, 0), batch_size=8, shuffle=True)
    unlabelled = DataLoader(CameraTraps(2400, False, 1), batch_size=16, shuffle=True, drop_last=True)
    return labelled, forever(unlabelled)
