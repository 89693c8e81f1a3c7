import torch
from torch import nn


class Look(nn.Module):
    """Fixed features and the way they go together."""

    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 5, padding=2).requires_grad_(False)

    def forward(self, picture):
        features = torch.relu(self.conv(picture))
        flat = features.flatten(2)
        return features, flat @ flat.transpose(1, 2) / flat.size(2)


class StyleJob:
    def __init__(self, content, style, memory):
        self.look = Look()
        self.content, _ = self.look(content)
        _, self.style = self.look(style)
        self.picture = nn.Parameter(content.clone())
        self.optimizer = torch.optim.LBFGS([self.picture], lr=0.5, max_iter=2, history_size=memory)

    def loss(self):
        self.optimizer.zero_grad()
        features, gram = self.look(self.picture)
        loss = (features - self.content).square().mean() + 5 * (gram - self.style).square().mean()
        loss.backward()
        return loss

    def step(self):
        return self.optimizer.step(self.loss).item()
