import torch
from spotter import narrower, step


class Pruning:
    def __init__(self, net, journal, batches, lr=1e-3):
        self.net, self.journal, self.batches = net, journal, batches
        self.lr = lr

    def rounds(self, widths, steps):
        for number, width in enumerate(widths):
            if number:
                self.net = narrower(self.net, width)
            self.tune(width, self.lr * 0.93**number, steps)

    def tune(self, width, lr, steps):
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=lr, weight_decay=10 * lr)
        losses = self.journal.open(width, optimizer)
        for _, (mel, word) in zip(range(steps), self.batches, strict=False):
            losses.append(step(self.net, optimizer, mel, word))
