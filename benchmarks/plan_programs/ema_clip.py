"""ConvNeXt-like network, clipped gradients, NAdam, a moving average of the weights, losses kept as numbers."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(1e-6 * torch.ones(width))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


def make_model(classes=200):
    return nn.Sequential(
        nn.Conv2d(3, 96, 4, stride=4),
        *(Block(96) for _ in range(2)),
        nn.Conv2d(96, 192, 2, stride=2),
        *(Block(192) for _ in range(2)),
        nn.Conv2d(192, 384, 2, stride=2),
        *(Block(384) for _ in range(4)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(384, classes),
    )


model = make_model().to(device)
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999), use_buffers=True)
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
losses = []
for step in range(20):
    x, y = torch.randn(24, 3, 96, 96, device=device), torch.randint(200, (24,), device=device)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    average.update_parameters(model)
    losses.append(loss.item())
