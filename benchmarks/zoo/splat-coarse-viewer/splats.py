import torch
from torch import nn


class Splats(nn.Module):
    """Flat blobs with a position, a log scale and harmonic colours."""

    def __init__(self, count, harmonics=9):
        super().__init__()
        self.means = nn.Parameter(torch.rand(count, 2))
        self.log_scales = nn.Parameter(torch.full((count, 1), -2.5))
        self.colours = nn.Parameter(0.1 * torch.randn(count, 3 * harmonics))

    def forward(self, pixels, which):
        distance = (pixels[:, None] - self.means[which]).square().sum(-1)
        weight = torch.exp(-distance / (2 * self.log_scales[which].squeeze(-1).exp().square()))
        return weight @ self.colours[which][:, :3] / (weight.sum(1, keepdim=True) + 1e-4)

    @torch.no_grad()
    def pruned(self, keep):
        best = self.colours.abs().sum(1).topk(keep).indices
        smaller = Splats(keep)
        for mine, theirs in zip(self.parameters(), smaller.parameters()):
            theirs.copy_(mine[best])
        return smaller
