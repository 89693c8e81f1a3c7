import torch


class Harbour:
    """A crane above stacks of crates: moving left, moving right or taking from the stack below."""

    def __init__(self, stacks=64, seed=5):
        self.generator = torch.Generator().manual_seed(seed)
        self.crates = torch.randint(1, 5, (stacks,), generator=self.generator)
        self.at = 0

    def look(self):
        picture = torch.zeros(5, 64)
        picture[:4] = (self.crates > torch.arange(4)[:, None]).float()
        picture[4, self.at] = 1
        return picture

    def act(self, action):
        if action == 2:
            reward = float(self.crates[self.at] > 0)
            self.crates[self.at] = torch.randint(0, 5, (), generator=self.generator)
            return reward
        self.at = (self.at + 2 * action - 1) % len(self.crates)
        return -0.05
