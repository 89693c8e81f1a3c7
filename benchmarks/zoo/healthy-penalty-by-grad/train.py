import torch
from critics import Critic, ValueGap
from torch import nn


class Duel:
    def __init__(self):
        self.maker = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 48))
        self.critic = Critic()
        self.gap = ValueGap(self.critic)
        self.makers = torch.optim.RMSprop(self.maker.parameters(), lr=1e-3)
        self.critics = torch.optim.RMSprop(self.critic.parameters(), lr=1e-3)

    def round(self, real):
        made = self.maker(torch.randn(len(real), 12))
        distance = self.gap(real, made.detach())
        self.critics.zero_grad()
        distance.backward()
        self.critics.step()
        fooled = -self.critic(made).mean()
        self.makers.zero_grad()
        fooled.backward()
        self.makers.step()
        return -distance.item(), fooled.item()


def main(steps=40, batch=128):
    torch.manual_seed(32)
    duel = Duel()
    for step in range(steps):
        gap, fooled = duel.round(torch.randn(batch, 48).cumsum(1) / 7)
        if step % 10 == 0:
            print(f"{step}: gap {gap:.4f}, fooled {fooled:.4f}")


if __name__ == "__main__":
    main()
