import gc

import torch
from encoders import TextEncoder, WordTokenizer
from torch import nn
from torch.nn import functional


class Denoiser(nn.Module):
    def __init__(self, channels=4, width=40, cond=160):
        super().__init__()
        self.inward = nn.Conv2d(channels, width, 3, padding=1)
        self.scale = nn.Linear(cond + 1, width)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.outward = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, noisy, level, cond):
        hidden = functional.silu(self.inward(noisy))
        hidden = hidden * self.scale(torch.cat((cond, level[:, None]), 1))[..., None, None]
        return self.outward(functional.silu(self.middle(hidden)))


class TextToImage:
    components = ("text_encoder", "denoiser", "processor")

    def __init__(self, processor_class, words):
        self.text_encoder = TextEncoder().eval().requires_grad_(False)
        self.denoiser = Denoiser()
        self.processor = processor_class(WordTokenizer(words), self.text_encoder.embed)

    def release(self, *names):
        for name in names:
            if name not in self.components:
                raise KeyError(name)
            setattr(self, name, None)
        gc.collect()

    def loss(self, latents, prompts, generator):
        level = torch.rand(latents.size(0), generator=generator)
        noise = torch.randn(latents.shape, generator=generator)
        mix = level.view(-1, 1, 1, 1)
        guess = self.denoiser((1 - mix) * latents + mix * noise, level, self.processor(prompts))
        return functional.mse_loss(guess, noise)
