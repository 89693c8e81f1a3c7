"""Two-tower click model on a double-buffered log."""

import torch
import torch.nn.functional as F

from adfeed.buffer import DoubleBuffer, ImpressionLog
from adfeed.model import TwoTower


class ClickTraining:
    def __init__(self, feed):
        self.feed = feed
        self.model = TwoTower()
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=0.02)

    def step(self):
        batch = self.feed.take()
        if batch is None:
            return None
        loss = F.binary_cross_entropy_with_logits(self.model(batch.signals, batch.ads), batch.clicked)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(66)
    training = ClickTraining(DoubleBuffer(ImpressionLog(seed=20), batches=24))
    step = 0
    while (loss := training.step()) is not None:
        step += 1
        if step % 6 == 0:
            print(f"step {step}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
