import copy

import torch
from queue_bank import KeyQueue, follow, unit
from torch import nn
from torch.nn.functional import cross_entropy


class Contrast:
    def __init__(self, encoder, queue, temperature=0.2):
        self.encoder, self.queue, self.temperature = encoder, queue, temperature
        self.slow = copy.deepcopy(encoder).requires_grad_(False)
        self.optimizer = torch.optim.SGD(encoder.parameters(), lr=0.03, momentum=0.9)

    def loss(self, first, keys):
        queries = unit(self.encoder, first)
        candidates = torch.cat([keys, self.queue.keys])
        scores = queries @ candidates.T / self.temperature
        return cross_entropy(scores, torch.arange(len(first)))

    def step(self, first, second):
        with torch.no_grad():
            keys = unit(self.slow, second)
        loss = self.loss(first, keys)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        follow(self.slow, self.encoder)
        self.queue.push(keys)
        return loss.item()


def pairs(count, batch=64):
    generator = torch.Generator().manual_seed(113)
    for _ in range(count):
        whole = torch.randn(batch, 1, 128, generator=generator)
        yield tuple(whole + 0.2 * torch.randn(batch, 1, 128, generator=generator) for _ in range(2))


def main():
    torch.manual_seed(114)
    encoder = nn.Sequential(nn.Conv1d(1, 16, 9, 2), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 60, 64))
    contrast = Contrast(encoder, KeyQueue(64))
    for number, (first, second) in enumerate(pairs(60)):
        loss = contrast.step(first, second)
        if number % 12 == 0:
            print(number, len(contrast.queue.keys), f"{loss:.3f}")


if __name__ == "__main__":
    main()
