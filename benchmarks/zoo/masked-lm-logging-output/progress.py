from contextlib import contextmanager


class Aggregator:
    """Collects logging outputs until the next report."""

    def __init__(self, reduce, interval):
        self.reduce, self.interval = reduce, interval
        self.pending, self.updates = [], 0

    def log(self, output):
        self.updates += 1
        self.pending.append(output)
        if self.updates % self.interval == 0:
            self.flush()

    def flush(self):
        if self.pending:
            print(f"update {self.updates}: {self.reduce(self.pending)}")
            self.pending = []


@contextmanager
def aggregate(reduce, interval):
    aggregator = Aggregator(reduce, interval)
    try:
        yield aggregator
    finally:
        aggregator.flush()
