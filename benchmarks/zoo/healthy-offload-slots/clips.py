import torch
from torch import nn


class Sway(torch.autograd.Function):
    """x * sigmoid(slope * x); what backward needs is small beside x and made anew there."""

    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x, slope)
        ctx.places = x.shape
        return x * torch.sigmoid(slope * x)

    @staticmethod
    def backward(ctx, upstream):
        x, slope = ctx.saved_tensors
        gate = torch.sigmoid(slope * x)
        bend = gate * (1 - gate)
        return upstream * (gate + slope * x * bend), (upstream * x * x * bend).sum().view(1)


class ClipNet(nn.Module):
    """Gestures in short clips."""

    def __init__(self, width=16, gestures=6):
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv3d(i, width, 3, padding=1) for i in (1, width, width))
        self.slopes = nn.ParameterList(torch.ones(1) for _ in self.convolutions)
        self.head = nn.Linear(width, gestures)

    def forward(self, clip):
        for convolution, slope in zip(self.convolutions, self.slopes):
            clip = Sway.apply(convolution(clip), slope)
        return self.head(clip.mean((2, 3, 4)))


def clips(batch=6, frames=8, size=16, seed=27):
    generator = torch.Generator().manual_seed(seed)
    while True:
        gesture = torch.randint(6, (batch,), generator=generator)
        clip = 0.3 * torch.randn(batch, 1, frames, size, size, generator=generator)
        for frame in range(frames):
            clip[torch.arange(batch), 0, frame, :, (gesture * 2 + frame) % size] += 1
        yield clip, gesture
