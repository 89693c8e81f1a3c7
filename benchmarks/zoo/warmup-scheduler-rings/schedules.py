import math


class Warmup:
    """Linear warm-up, then one of several ways down; the way is picked once, when the schedule is made."""

    def __init__(self, optimizer, peak, warm=1, total=6, shape="cosine"):
        self.optimizer, self.peak, self.warm, self.total = optimizer, peak, warm, total
        self.count = 0
        self.factor = getattr(self, f"_{shape}")
        self.set_rate()

    def _cosine(self, progress):
        return 0.5 * (1 + math.cos(math.pi * progress))

    def _linear(self, progress):
        return 1 - progress

    def set_rate(self):
        if self.count < self.warm:
            rate = self.peak * (self.count + 1) / self.warm
        else:
            rate = self.peak * self.factor((self.count - self.warm) / (self.total - self.warm))
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def step(self):
        self.count += 1
        self.set_rate()
