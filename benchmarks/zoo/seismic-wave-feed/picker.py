import torch
from torch import nn
from torch.nn import functional


class Picker(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.low = nn.Conv2d(3, width, (5, 3), (2, 1), (2, 1))
        self.high = nn.Conv2d(width, 2 * width, (5, 3), (2, 1), (2, 1))
        self.pick = nn.Conv1d(2 * width, 1, 9, padding=4)

    def forward(self, spectra):
        x = functional.relu(self.low(spectra))
        x = functional.relu(self.high(x)).mean(2)
        return self.pick(x).squeeze(1)


class PickerTraining:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
        self.off = []

    def step(self, spectra, frames):
        scores = self.net(spectra)
        loss = functional.cross_entropy(scores, frames)
        self.off.append((scores.argmax(1) - frames).abs().float().mean().item())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()
