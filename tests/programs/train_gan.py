"""Two networks, two optimizers, the second stepping twice for each step of the first."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn

seed()
generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(), nn.Linear(32, 8))
critic = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(8, 32)), nn.LeakyReLU(), nn.Linear(32, 1))
of_generator = torch.optim.Adam(generator.parameters(), betas=(0.5, 0.9))
of_critic = torch.optim.Adam(critic.parameters(), betas=(0.5, 0.9))
for _ in range(20):
    for _ in range(2):
        fake = generator(torch.randn(16, 4)).detach()
        loss = critic(fake).mean() - critic(torch.randn(16, 8)).mean()
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
    fooled = -critic(generator(torch.randn(16, 4))).mean()
    of_generator.zero_grad()
    fooled.backward()
    of_generator.step()
    print(loss.item(), fooled.item())
print_fingerprint(generator, critic, optimizers=(of_generator, of_critic))
