"""Convolutional variational autoencoder, channels last."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class VAE(nn.Module):
    def __init__(self, width=32, latent=128):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1),
            nn.SiLU(),
            nn.Conv2d(width, 2 * width, 4, 2, 1),
            nn.GroupNorm(8, 2 * width),
            nn.SiLU(),
            nn.Conv2d(2 * width, 4 * width, 4, 2, 1),
            nn.GroupNorm(8, 4 * width),
            nn.SiLU(),
            nn.Flatten(),
        )
        self.mean = nn.Linear(4 * width * 64, latent)
        self.log_variance = nn.Linear(4 * width * 64, latent)
        self.enter = nn.Linear(latent, 4 * width * 64)
        self.decoder = nn.Sequential(
            nn.Unflatten(1, (4 * width, 8, 8)),
            nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1),
            nn.GroupNorm(8, 2 * width),
            nn.SiLU(),
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1),
            nn.GroupNorm(8, width),
            nn.SiLU(),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.Conv2d(width, 3, 3, padding=1),
        )

    def forward(self, x):
        x = self.encoder(x)
        mean, log_variance = self.mean(x), self.log_variance(x)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return torch.sigmoid(self.decoder(self.enter(z))), mean, log_variance


model = VAE().to(device, memory_format=torch.channels_last)
optimizer = torch.optim.Adamax(model.parameters(), lr=1e-3)
for step in range(20):
    x = torch.rand(128, 3, 64, 64).to(device, memory_format=torch.channels_last)
    rebuilt, mean, log_variance = model(x)
    error = F.binary_cross_entropy(rebuilt, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    loss = (error + divergence) / len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
