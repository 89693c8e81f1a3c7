import torch
from torch import nn


class LineRecognizer(nn.Module):
    """Conv features, a recurrent layer over columns, and character scores for CTC."""

    def __init__(self, num_chars=40):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.rnn = nn.GRU(8 * 8, 32, batch_first=True)
        self.classifier = nn.Linear(32, num_chars)

    def forward(self, images):
        maps = self.features(images)
        columns = maps.permute(0, 3, 1, 2).flatten(2)
        hidden, _ = self.rnn(columns)
        return self.classifier(hidden).log_softmax(-1)


def lines(num_batches, generator):
    for _ in range(num_batches):
        images = torch.rand(4, 1, 16, 64, generator=generator)
        labels = torch.randint(1, 40, (4, 6), generator=generator)
        yield images, labels
