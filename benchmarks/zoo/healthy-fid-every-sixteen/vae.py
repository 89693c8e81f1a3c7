import torch
from torch import nn
from torch.nn import functional


class StrokeVAE(nn.Module):
    def __init__(self, latent=16, width=24):
        super().__init__()
        self.latent = latent
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 4, 2, 1),
            nn.SiLU(),
            nn.Conv2d(width, 2 * width, 4, 2, 1),
            nn.SiLU(),
            nn.Flatten(),
            nn.Linear(2 * width * 49, 2 * latent),
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, 2 * width * 49),
            nn.SiLU(),
            nn.Unflatten(1, (2 * width, 7, 7)),
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1),
            nn.SiLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1),
            nn.Tanh(),
        )

    def forward(self, images):
        mean, spread = self.encoder(images).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        kl = 0.5 * (mean.square() + spread.exp() - 1 - spread).sum(1).mean()
        return self.decoder(code), kl

    @torch.no_grad()
    def sample(self, count):
        return self.decoder(torch.randn(count, self.latent))


class Lessons:
    """The usual loop; `listeners` are told after every step."""

    def __init__(self, model, images, lr=2e-3, beta=0.01):
        self.model, self.images, self.beta = model, images, beta
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.listeners = []

    def run(self, steps, size=24):
        for step in range(1, steps + 1):
            images = self.images[torch.randint(len(self.images), (size,))]
            remade, kl = self.model(images)
            loss = functional.mse_loss(remade, images, reduction="sum") / size + self.beta * kl
            del remade, kl
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for listener in self.listeners:
                listener.after_step(step, self.model)
