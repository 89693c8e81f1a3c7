from concurrent.futures import ThreadPoolExecutor

import torch


class SinogramBatches:
    """With no workers the caller's own thread makes the items."""

    def __init__(self, make, workers=0, batch=6):
        self.make, self.batch = make, batch
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="xray") if workers else None

    def epoch(self, batches, start):
        mapped = self.pool.map if self.pool else map
        for b in range(batches):
            seeds = range(start + b * self.batch, start + (b + 1) * self.batch)
            items = list(mapped(self.make, seeds))
            yield torch.stack([x for x, _ in items])[:, None], torch.tensor([y for _, y in items])

    def close(self):
        if self.pool:
            self.pool.shutdown()
