import torch
from detector import strongest


class Picks:
    """The strongest boxes of every picture of every evaluation, for the curve over epochs."""

    def __init__(self, limit=5):
        self.limit = limit
        self.by_epoch = []

    def start(self):
        self.by_epoch.append([])

    def take(self, rows):
        return strongest(rows, self.limit)

    def add(self, predictions, boxes):
        for rows, box in zip(predictions, boxes):
            self.by_epoch[-1].append((self.take(rows), box))

    def curve(self):
        values = []
        for picks in self.by_epoch:
            gaps = [(rows[:, :4].sigmoid() - box).abs().mean(1).min() for rows, box in picks]
            values.append(torch.stack(gaps).mean().item())
        return values


@torch.no_grad()
def evaluate(net, pictures, boxes, picks):
    net.eval()
    picks.start()
    for x, b in zip(pictures.split(4), boxes.split(4)):
        picks.add(net(x), b)
    net.train()
