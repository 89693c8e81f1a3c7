import logging

import torch
from logs import stamp
from torch import nn
from torch.nn import functional

log = logging.getLogger("wheat")


class FoldTrainer:
    stamp = staticmethod(stamp)

    def __init__(self, fold, bands=128, width=320):
        self.fold, self.done = fold, 0
        body = [nn.Linear(bands, width), nn.GELU(), nn.Linear(width, width), nn.GELU()]
        self.net = nn.Sequential(*body, nn.Linear(width, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.stamp(self)

    def run(self, known, held, steps):
        """Trains on the known plots; the best score on those held out."""
        x, y = known
        best = float("inf")
        for _ in range(steps):
            rows = torch.randint(len(x), (48,))
            loss = functional.mse_loss(self.net(x[rows]), y[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.done += 1
            best = min(best, self.score(*held))
        log.info("train %.4f held out %.4f", loss.item(), best)
        return best

    @torch.no_grad()
    def score(self, x, y):
        return functional.mse_loss(self.net(x), y).item()
