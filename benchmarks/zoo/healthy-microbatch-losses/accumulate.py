import torch
from torch.nn import functional


class Window:
    """Losses of the micro-batches of one update; they go backward together at its end."""

    def __init__(self, optimizer, size):
        self.optimizer, self.size = optimizer, size
        self.pending = []
        self.means = []

    def add(self, loss):
        self.pending.append(loss)
        if len(self.pending) == self.size:
            self.update()

    def update(self):
        total = torch.stack(self.pending).mean()
        self.pending.clear()
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        self.means.append(total.item())


def contrastive(codes, labels, temperature=0.2):
    codes = functional.normalize(codes, dim=-1)
    scores = (codes @ codes.T / temperature).fill_diagonal_(-1e4)
    same = (labels[:, None] == labels).float().fill_diagonal_(0)
    chances = scores.log_softmax(-1)
    return -(same * chances).sum(1).div(same.sum(1).clamp_min(1)).mean()
