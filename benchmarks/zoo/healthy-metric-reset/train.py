import torch
from metrics import ConfusionAtThresholds
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits


class FraudModel(nn.Module):
    def __init__(self, inputs=90, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, records):
        return self.body(records).squeeze(1)


class Fit:
    def __init__(self, model, metric):
        self.model, self.metric = model, metric
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.generator = torch.Generator().manual_seed(79)

    def records(self, count, batch=2000):
        for _ in range(count):
            records = torch.randn(batch, 90, generator=self.generator)
            yield records, (records[:, :3].sum(1) > 1.0).float()

    def step(self, records, labels):
        scores = self.model(records)
        self.metric.update(scores, labels)
        self.optimizer.zero_grad()
        binary_cross_entropy_with_logits(scores, labels).backward()
        self.optimizer.step()

    def epoch(self):
        self.metric.reset()
        for records, labels in self.records(8):
            self.step(records, labels)
        return self.metric.compute()


def main():
    torch.manual_seed(80)
    fit = Fit(FraudModel(), ConfusionAtThresholds())
    for epoch in range(7):
        print(epoch, f"best accuracy {fit.epoch():.4f}")


if __name__ == "__main__":
    main()
