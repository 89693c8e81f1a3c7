"""Sorts beetle photographs and tells which layers of the eye did the work."""

import torch

from beetles.eye import BeetleEye
from beetles.relevance import LayerRelevance
from beetles.specimens import Cabinet


class Study:
    def __init__(self, relevance_class):
        torch.manual_seed(12)
        self.eye = BeetleEye()
        self.cabinet = Cabinet()
        self.relevance = relevance_class(self.eye)
        self.optimizer = torch.optim.SGD(self.eye.parameters(), lr=0.02)

    def step(self, count=24):
        photographs, kinds = self.cabinet.draw(count)
        shares = self.relevance.shares(photographs)
        loss = torch.nn.functional.cross_entropy(self.eye(photographs), kinds)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), shares


def main(relevance_class=LayerRelevance, steps=36):
    study = Study(relevance_class)
    for step in range(steps):
        loss, shares = study.step()
        if step % 9 == 8:
            print(f"step {step}: loss {loss:.3f}; " + ", ".join(f"{name} {share:.2f}" for name, share in shares))


if __name__ == "__main__":
    main()
