import torch

PRIMES = torch.tensor([1000003, 998244353, 7919, 104729, 611953, 15485863, 32452843, 49979687, 67867967])


def squash(counters):
    """Heavy tails become something a linear layer can read."""
    logs = counters.clamp_min(0).log1p()
    return (logs - logs.mean(0)) / logs.std(0).clamp_min(1e-3)


def buckets(slots, size):
    return (slots * PRIMES[: slots.size(1)]).remainder_(size)


class ReadyForModel:
    def __init__(self, table_size):
        self.table_size = table_size

    def __call__(self, batch):
        return (squash(batch.counters), buckets(batch.slots, self.table_size)), batch.clicks
