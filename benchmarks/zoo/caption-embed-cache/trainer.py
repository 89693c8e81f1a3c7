import gc

import torch
from backends import StateTracker, configure_backends
from embeds import TextEmbeddingCache
from encoders import load_text_encoders
from torch import nn

CAPTIONS = [f"{what} {where}" for what in ("a cat", "a fox", "an owl") for where in ("asleep", "in snow", "at night")]


class Denoiser(nn.Module):
    def __init__(self, condition=512, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width + condition, 192), nn.SiLU(), nn.Linear(192, width))

    def forward(self, noisy, condition):
        return self.net(torch.cat([noisy, condition], -1))


class Trainer:
    def __init__(self, make_cache=TextEmbeddingCache):
        self.text_encoders = load_text_encoders()
        configure_backends(self.text_encoders, make_cache)
        self.denoiser = Denoiser()
        self.optimizer = torch.optim.AdamW(self.denoiser.parameters(), lr=5e-4)

    def precompute(self):
        print("embedded", StateTracker.text_cache().compute(CAPTIONS), "captions")

    def unload_text_encoders(self):
        self.text_encoders = None
        gc.collect()

    def train(self, steps=40):
        generator = torch.Generator().manual_seed(4)
        for step in range(steps):
            pick = torch.randint(len(CAPTIONS), (16,), generator=generator).tolist()
            condition = StateTracker.text_cache().lookup([CAPTIONS[i] for i in pick])
            noise = torch.randn(16, 64, generator=generator)
            loss = (self.denoiser(0.6 * noise, condition) - noise).square().mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if step % 10 == 0:
                print(step, f"{loss.item():.4f}")

    def run(self):
        self.precompute()
        self.unload_text_encoders()
        self.train()
