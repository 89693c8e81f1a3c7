import torch


class ConfusionAtThresholds:
    """Keeps an epoch's scores, because its thresholds are only known at the end."""

    def __init__(self, thresholds=5):
        self.thresholds = thresholds
        self.reset()

    def reset(self):
        self.scores, self.labels = [], []

    def update(self, scores, labels):
        self.scores.append(scores.detach())
        self.labels.append(labels)

    def compute(self):
        scores, labels = torch.cat(self.scores), torch.cat(self.labels)
        cuts = torch.quantile(scores, torch.linspace(0.1, 0.9, self.thresholds))
        predicted = scores.unsqueeze(0) > cuts.unsqueeze(1)
        return (predicted == labels.bool()).float().mean(1).max().item()
