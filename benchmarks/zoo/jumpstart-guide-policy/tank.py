import torch


class WaterTanks:
    """Tanks in a row whose levels drift; an action pumps between neighbours."""

    def __init__(self, batch=32, tanks=12, seed=51):
        self.batch, self.tanks = batch, tanks
        self.generator = torch.Generator().manual_seed(seed)

    def reset(self):
        self.levels = torch.randn(self.batch, self.tanks, generator=self.generator)
        self.wanted = torch.randn(self.batch, self.tanks, generator=self.generator) * 0.3
        return self.observe()

    def observe(self):
        return torch.cat((self.levels, self.wanted), 1)

    def step(self, action):
        flow = action.tanh() * 0.3
        self.levels = self.levels + flow - flow.roll(1, 1) * 0.5
        return self.observe(), -(self.levels - self.wanted).square().mean(1)
