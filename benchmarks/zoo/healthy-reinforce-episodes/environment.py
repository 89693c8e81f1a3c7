import torch


class Corridor:
    """Walk to the right end; the observation is a noisy picture of where one stands."""

    def __init__(self, length=5, size=200, limit=60, seed=83):
        self.length, self.limit = length, limit
        self.generator = torch.Generator().manual_seed(seed)
        self.pictures = torch.randn(length + 1, size, generator=self.generator)

    def picture(self):
        noise = torch.randn(16, self.pictures.size(1), generator=self.generator)
        return self.pictures[self.place] + 0.1 * noise

    def reset(self):
        self.place, self.walked = 1, 0
        return self.picture()

    def step(self, right):
        self.walked += 1
        self.place = min(self.length, max(0, self.place + (1 if right else -1)))
        done = self.place == self.length or self.walked >= self.limit
        return self.picture(), (1.0 if self.place == self.length else -0.02), done
