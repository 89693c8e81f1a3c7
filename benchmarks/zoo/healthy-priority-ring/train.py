import copy
import random

import torch
from harbour import Harbour
from ring import Move, PriorityRing
from torch import nn


class Learner:
    def __init__(self):
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(320, 96), nn.ReLU(), nn.Linear(96, 3))
        self.slow = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def learn(self, ring):
        rows, before, action, reward, after = ring.draw(16)
        wanted = reward + 0.9 * self.slow(after).amax(1)
        error = wanted - self.net(before).gather(1, action[:, None]).squeeze(1)
        loss = error.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        ring.learned(rows, error)
        for slow, fast in zip(self.slow.parameters(), self.net.parameters()):
            slow.lerp_(fast.detach(), 0.05)
        return loss.item()


def main(steps=60, moves=8):
    torch.manual_seed(6)
    chance, harbour, ring, learner = random.Random(6), Harbour(), PriorityRing(160), Learner()
    for step in range(steps):
        for _ in range(moves):
            before, action = harbour.look(), chance.randrange(3)
            ring.add(Move(before, action, harbour.act(action), harbour.look()))
        if len(ring.moves) >= 16:
            loss = learner.learn(ring)
            if step % 12 == 2:
                print(step, len(ring.moves), f"{loss:.4f}")


if __name__ == "__main__":
    main()
