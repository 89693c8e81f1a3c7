"""DCGAN: a generator and a discriminator with an optimizer each."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NOISE, WIDTH, BATCH = 100, 48, 32


def up(channels, out, stride=2, padding=1):
    return [nn.ConvTranspose2d(channels, out, 4, stride, padding, bias=False), nn.BatchNorm2d(out), nn.ReLU(True)]


def down(channels, out):
    return [nn.Conv2d(channels, out, 4, 2, 1, bias=False), nn.BatchNorm2d(out), nn.LeakyReLU(0.2, inplace=True)]


generator = nn.Sequential(
    *up(NOISE, 8 * WIDTH, 1, 0),
    *up(8 * WIDTH, 4 * WIDTH),
    *up(4 * WIDTH, 2 * WIDTH),
    *up(2 * WIDTH, WIDTH),
    nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1, bias=False),
    nn.Tanh(),
).to(device)
discriminator = nn.Sequential(
    nn.Conv2d(3, WIDTH, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    *down(WIDTH, 2 * WIDTH),
    *down(2 * WIDTH, 4 * WIDTH),
    *down(4 * WIDTH, 8 * WIDTH),
    nn.Conv2d(8 * WIDTH, 1, 4, 1, 0, bias=False),
    nn.Flatten(0),
).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))

for step in range(20):
    real = torch.randn(BATCH, 3, 64, 64).to(device)
    ones, zeros = torch.ones(BATCH, device=device), torch.zeros(BATCH, device=device)

    discriminator.zero_grad()
    error_real = criterion(discriminator(real), ones)
    error_real.backward()
    fake = generator(torch.randn(BATCH, NOISE, 1, 1, device=device))
    error_fake = criterion(discriminator(fake.detach()), zeros)
    error_fake.backward()
    optimizer_d.step()

    generator.zero_grad()
    error_g = criterion(discriminator(fake), ones)
    error_g.backward()
    optimizer_g.step()
