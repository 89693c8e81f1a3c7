import torch
from torch import nn


class Splats(nn.Module):
    def __init__(self, count=300, most=1500):
        super().__init__()
        self.most = most
        self.centres = nn.Parameter(torch.rand(count, 2))
        self.colours = nn.Parameter(torch.rand(count, 3))
        self.widths = nn.Parameter(torch.full((count, 1), -2.5))

    def forward(self, points):
        distance = torch.cdist(points, self.centres).square()
        weights = torch.softmax(-distance / self.widths.exp().square().T.clamp(min=1e-4), 1)
        return weights @ self.colours


def rows_added(optimizer, parameter, rows):
    """The parameter with its chosen rows once more, and its moments with zeros for them."""
    state = optimizer.state.pop(parameter, {})
    grown = nn.Parameter(torch.cat([parameter.detach(), parameter.detach()[rows]]))
    for name, value in state.items():
        known = value.dim() > 0
        state[name] = torch.cat([value, torch.zeros_like(value[rows])]) if known else value
    optimizer.state[grown] = state
    return grown


def densify(splats, optimizer, share=0.35):
    count = len(splats.centres)
    extra = min(int(share * count), splats.most - count)
    if extra <= 0:
        return
    rows = splats.centres.grad.norm(dim=1).topk(extra).indices
    for group in optimizer.param_groups:
        name = group["name"]
        grown = rows_added(optimizer, getattr(splats, name), rows)
        setattr(splats, name, grown)
        group["params"] = [grown]
