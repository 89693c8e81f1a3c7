import math


class Schedule:
    """Warm-up, then a way down that is picked by name when the schedule is made."""

    def __init__(self, optimizer, peak, warm=5, total=50, shape="cosine"):
        self.optimizer, self.peak, self.warm, self.total = optimizer, peak, warm, total
        self.factor = getattr(self, shape)
        self.count = 0

    def cosine(self, progress):
        return 0.5 * (1 + math.cos(math.pi * progress))

    def linear(self, progress):
        return 1 - progress

    def step(self):
        self.count += 1
        if self.count < self.warm:
            rate = self.peak * self.count / self.warm
        else:
            rate = self.peak * self.factor((self.count - self.warm) / (self.total - self.warm))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
