import torch
from torch import nn


class Estimator:
    def __init__(self, columns, width=384, epochs=3, batch=256):
        self.net = nn.Sequential(
            nn.BatchNorm1d(columns), nn.Linear(columns, width), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1),
        )
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=2e-3)
        self.epochs, self.batch = epochs, batch
        self.epochs_done = 0

    def fit(self, x, y):
        for _ in range(self.epochs):
            self.net.train()
            for i in torch.randperm(len(x)).split(self.batch):
                loss = nn.functional.binary_cross_entropy_with_logits(self.net(x[i]).squeeze(1), y[i])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.epochs_done += 1
        return self

    @torch.no_grad()
    def score(self, x):
        self.net.eval()
        return self.net(x).squeeze(1).sigmoid()


def auc(scores, y):
    pos, neg = scores[y > 0.5], scores[y < 0.5]
    return (pos[:, None] > neg[None]).float().mean().item()
