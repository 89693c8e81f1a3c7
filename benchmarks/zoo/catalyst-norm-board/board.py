"""A metrics board that writes seldom, for the file system of the cluster is slow."""

import sys
from statistics import fmean


class MetricsBoard:
    def __init__(self, flush_every=500, stream=sys.stdout):
        self.flush_every = flush_every
        self.stream = stream
        self.pending = {}
        self.steps = 0

    def scalar(self, key, value):
        self.pending.setdefault(key, []).append(value)

    def scalars(self, prefix, values):
        for name, value in values.items():
            self.scalar(f"{prefix}/{name}", value)

    def tick(self):
        self.steps += 1
        if self.steps % self.flush_every == 0:
            self.flush()

    def flush(self, only=None):
        for key, values in self.pending.items():
            if only is None or key.startswith(only):
                print(f"{key} {fmean(map(float, values)):.5f} over {len(values)}", file=self.stream)
        self.pending.clear()
