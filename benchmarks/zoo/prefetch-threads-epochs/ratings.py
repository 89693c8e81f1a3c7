import torch
from prefetch import Prefetcher


class RatingBatches:
    """Users, items and ratings, in batches of one size."""

    def __init__(self, count=16, rows=8000, seed=70):
        self.count, self.rows, self.seed = count, rows, seed

    def __len__(self):
        return self.count

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        for _ in range(self.count):
            users = torch.randint(500, (self.rows,), generator=generator)
            items = torch.randint(300, (self.rows,), generator=generator)
            yield users, items, ((users % 7) - (items % 5)).float()


class BackgroundBatches(RatingBatches):
    def __iter__(self):
        return Prefetcher(super().__iter__())
