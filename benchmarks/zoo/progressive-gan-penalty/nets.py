import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.first = nn.Conv2d(3, width, 4, stride=2, padding=1)
        self.second = nn.Conv2d(width, width, 4, stride=2, padding=1)
        self.score = nn.Linear(width * 36, 1)

    def forward(self, images):
        x = nn.functional.softplus(self.first(images))
        return self.score(nn.functional.softplus(self.second(x)).flatten(1)).squeeze(-1)


class Maker(nn.Module):
    def __init__(self, noise=16, width=12):
        super().__init__()
        self.seed = nn.Linear(noise, width * 36)
        self.up = nn.ConvTranspose2d(width, 3, 4, stride=4)

    def forward(self, noise):
        return torch.tanh(self.up(torch.relu(self.seed(noise)).unflatten(1, (-1, 6, 6))))


class Stage:
    def __init__(self, penalty):
        self.maker, self.critic, self.penalty = Maker(), Critic(), penalty
        self.maker_optimizer = torch.optim.Adam(self.maker.parameters(), lr=1e-3, betas=(0.0, 0.99))
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.99))

    def critic_step(self, real, noise):
        made = self.maker(noise).detach()
        penalty = self.penalty(self.critic, real, made)
        loss = self.critic(made).mean() - self.critic(real).mean() + penalty
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        return loss.item()

    def maker_step(self, noise):
        loss = -self.critic(self.maker(noise)).mean()
        self.maker_optimizer.zero_grad()
        loss.backward()
        self.maker_optimizer.step()
        return loss.item()
