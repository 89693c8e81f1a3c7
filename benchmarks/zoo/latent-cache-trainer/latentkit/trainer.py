"""Latent diffusion: pictures are encoded once, then the denoiser is trained on the stored latents."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class TrainConfig:
    steps: int = 24
    batch: int = 6
    encode_batch: int = 16
    lr: float = 4e-4
    seed: int = 1


class LatentTrainer:
    def __init__(self, vae, unet, schedule, config):
        self.vae = vae.eval().requires_grad_(False)
        self.unet = unet
        self.schedule = schedule
        self.config = config
        self.optimizer = torch.optim.AdamW(unet.parameters(), lr=config.lr)
        self.gen = torch.Generator().manual_seed(config.seed)
        self.latents = None

    @torch.no_grad()
    def prepare(self, pictures):
        chunks = []
        for part in pictures.split(self.config.encode_batch):
            chunks.append(self.vae.encode(part).latent_dist.mean.clone())
        latents = torch.cat(chunks)
        self.latents = latents / latents.std().clamp_min(1e-6)

    def noise_step(self):
        pick = torch.randint(len(self.latents), (self.config.batch,), generator=self.gen)
        clean = self.latents[pick]
        noise = torch.randn(clean.shape, generator=self.gen)
        when = torch.randint(self.schedule.config.num_train_timesteps, (len(clean),), generator=self.gen)
        noisy = self.schedule.add_noise(clean, noise, when)
        loss = F.mse_loss(self.unet(noisy, when).sample, noise)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, pictures):
        self.prepare(pictures)
        for step in range(self.config.steps):
            loss = self.noise_step()
            if (step + 1) % 6 == 0:
                print(f"step {step + 1}: noise mse {loss:.4f}")
