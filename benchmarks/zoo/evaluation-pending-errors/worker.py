from torch import nn


class EmptyMask(ValueError):
    pass


class Evaluator:
    def __init__(self, classes=3):
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, classes, 1)).eval()
        self.net.requires_grad_(False)

    def dice(self, scan, mask):
        probabilities = self.net(scan).softmax(1)
        picked = probabilities.argmax(1)
        overlap = self.overlap(picked, mask)
        return (2 * overlap / ((picked > 0).sum() + (mask > 0).sum())).item()

    def overlap(self, picked, mask):
        if not mask.any():
            raise EmptyMask("no foreground")
        return ((picked == mask) & (mask > 0)).sum()
