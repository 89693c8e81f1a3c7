"""Click-through ranker on a staged feed."""

import torch
import torch.nn.functional as F

from adrank.features import Quantizer
from adrank.feed_r1 import ClickLog, StagedFeed
from adrank.ranker import ClickRanker


class RankTrainer:
    def __init__(self, model, feed, quantizer):
        self.model = model
        self.feed = feed
        self.quantizer = quantizer
        self.dense_opt = torch.optim.Adam(model.tower.parameters(), lr=1e-3)
        self.item_opt = torch.optim.SparseAdam(list(model.items.parameters()), lr=1e-2)

    def step(self):
        batch = self.feed.next_batch()
        if batch is None:
            return None
        signals, items = self.quantizer(batch)
        clicked = batch.clicked
        del batch
        loss = F.binary_cross_entropy_with_logits(self.model(signals, items), clicked)
        for optimizer in (self.dense_opt, self.item_opt):
            optimizer.zero_grad()
        loss.backward()
        for optimizer in (self.dense_opt, self.item_opt):
            optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    feed = StagedFeed(ClickLog(seed=17), batches=20)
    trainer = RankTrainer(ClickRanker(), feed, Quantizer())
    step = 0
    while (loss := trainer.step()) is not None:
        step += 1
        if step % 5 == 0:
            print(f"step {step}: {feed.rows_served} rows, loss {loss:.4f}")


if __name__ == "__main__":
    main()
