import torch

MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Mazes:
    def __init__(self, n=128, side=12, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.walls = torch.rand(n, side, side, generator=self.g) < 0.2
        self.walls[:, 0, 0] = False
        self.at = torch.zeros(n, 2, dtype=torch.long)
        self.n, self.side = n, side

    def look(self):
        marks = torch.zeros(self.n, self.side, self.side)
        marks[torch.arange(self.n), self.at[:, 0], self.at[:, 1]] = 1
        return torch.cat([marks.flatten(1), self.walls.flatten(1).float()], 1)

    def move(self, action):
        after = (self.at + MOVES[action]).clamp(0, self.side - 1)
        blocked = self.walls[torch.arange(self.n), after[:, 0], after[:, 1]]
        self.at = torch.where(blocked[:, None], self.at, after)
        done = (self.at == self.side - 1).all(1)
        self.at[done] = 0
        return done.float()
