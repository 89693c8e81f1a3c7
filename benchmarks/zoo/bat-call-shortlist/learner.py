import torch
from torch import nn
from torch.nn import functional


def call_net(kinds, width=8):
    return nn.Sequential(
        nn.Conv2d(1, width, 5, 2, 2),
        nn.BatchNorm2d(width),
        nn.SiLU(),
        nn.Conv2d(width, 2 * width, 3, 2, 1),
        nn.BatchNorm2d(2 * width),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d((3, 2)),
        nn.Flatten(),
        nn.Linear(12 * width, kinds),
    )


class ActiveLearner:
    """Learns from what is labelled and, as it goes, looks through what nobody has heard yet."""

    def __init__(self, recordings, shortlist):
        self.recordings, self.shortlist = recordings, shortlist
        self.net = call_net(recordings.kinds)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)

    def learn(self):
        calls, kinds = self.recordings.labelled()
        loss = functional.cross_entropy(self.net(calls), kinds)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def browse(self):
        clips, calls = self.recordings.unheard()
        self.shortlist.offer(clips, self.net(calls))
