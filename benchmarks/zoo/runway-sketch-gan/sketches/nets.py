from torch import nn


def generator(noise=24, width=32):
    return nn.Sequential(
        nn.Unflatten(1, (noise, 1, 1)),
        nn.ConvTranspose2d(noise, width, 8),
        nn.ReLU(),
        nn.ConvTranspose2d(width, width, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )


def critic(width=24):
    return nn.Sequential(
        nn.Conv2d(1, width, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width, width, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(width * 64, 1),
    )
