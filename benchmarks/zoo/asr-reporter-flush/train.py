import torch
from reporter import SubReporter
from torch import nn


class FrameClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.tdnn = nn.Sequential(nn.Conv1d(20, 48, 3, dilation=2), nn.ReLU(), nn.Conv1d(48, 48, 3), nn.ReLU())
        self.senones = nn.Conv1d(48, 120, 1)

    def forward(self, features, labels):
        logits = self.senones(self.tdnn(features))
        labels = labels[:, : logits.size(2)]
        loss = nn.functional.cross_entropy(logits, labels)
        accuracy = (logits.argmax(1) == labels).float().mean()
        return loss, {"loss": loss.detach(), "acc": accuracy}


def train_one_epoch(reporter, iterations=60):
    torch.manual_seed(17)
    model = FrameClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(iterations):
        features, labels = torch.randn(4, 20, 80), torch.randint(120, (4, 80))
        loss, stats = model(features, labels)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        reporter.register(grad_norm=norm, **stats)
        reporter.next()


if __name__ == "__main__":
    train_one_epoch(SubReporter())
