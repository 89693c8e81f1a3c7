import random

import torch
from replay import ReplayBuffer, Transition
from torch import nn


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(16 * 16, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.net(x)


def main(episodes=60, steps_per_episode=8):
    torch.manual_seed(0)
    random.seed(0)
    online, target = QNetwork(), QNetwork()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    buffer = ReplayBuffer(capacity=280)
    observation = torch.rand(16, 16)
    for episode in range(episodes):
        for _ in range(steps_per_episode):
            following = torch.rand(16, 16)
            action = random.randrange(4)
            buffer.push(Transition(observation, action, float(action == episode % 4), following))
            observation = following
        obs, action, reward, nxt = buffer.sample(32)
        with torch.no_grad():
            goal = reward + 0.9 * target(nxt).max(1).values
        value = online(obs).gather(1, action[:, None]).squeeze(1)
        loss = nn.functional.l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if episode % 15 == 14:
            target.load_state_dict(online.state_dict())
            print(episode, len(buffer.transitions), loss.item())


if __name__ == "__main__":
    main()
