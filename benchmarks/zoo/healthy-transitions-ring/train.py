import torch
from buffer import TransitionRing
from torch import nn


class Pole:
    def __init__(self, size=600):
        self.mixing = torch.randn(size, size) / size**0.5

    def reset(self):
        return torch.randn(self.mixing.size(0))

    def step(self, seen, action):
        following = torch.tanh(self.mixing @ seen + 0.1 * (action * 2 - 1))
        return following, following[:10].mean()


class Agent:
    def __init__(self, size=600):
        self.q = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 2))
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, seen):
        return torch.randint(2, ()) if torch.rand(()) < 0.2 else self.q(seen).argmax()

    def learn(self, batch, discount=0.9):
        with torch.no_grad():
            target = batch.reward + discount * self.q(batch.following).amax(1)
        value = self.q(batch.seen).gather(1, batch.action[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(steps=60, warm=48, capacity=64):
    torch.manual_seed(3)
    world, agent, ring = Pole(), Agent(), TransitionRing(capacity)
    seen = world.reset()
    for step in range(-warm, steps):
        action = agent.act(seen)
        following, reward = world.step(seen, action)
        ring.push(seen, action, reward, following)
        seen = following
        if step >= 0:
            loss = agent.learn(ring.sample(24))
            if step % 12 == 0:
                print(step, len(ring), f"{loss:.5f}")


if __name__ == "__main__":
    main()
