"""Diffusion fine-tuning: captions are encoded once, then the text encoder is unloaded to make room.

`self.text_encoder = None` frees nothing here: the embedding cache, the sampling pipeline and a list of blocks
kept for offloading hold it too. `--fixed` lets go of it in all four places.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import torch
from measure import LiveBytes
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """Training arguments."""

    num_steps: int = 40
    batch_size: int = 8
    num_captions: int = 64
    text_width: int = 320
    text_layers: int = 4
    learning_rate: float = 1e-4


class TextEncoder(nn.Module):
    """Caption tokens to one embedding."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, config.text_width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(config.text_width, 4, 2 * config.text_width, batch_first=True)
            for _ in range(config.text_layers)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Mean over the tokens."""
        hidden = self.embedding(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return hidden.mean(dim=1)


class Denoiser(nn.Module):
    """Predicts the noise in a latent, given a caption embedding and a time."""

    def __init__(self, text_width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256 + text_width + 1, 256), nn.SiLU(), nn.Linear(256, 256))

    def forward(self, noisy: Tensor, time: Tensor, caption: Tensor) -> Tensor:
        """The noise."""
        return self.layers(torch.cat([noisy, time, caption], dim=1))


class EmbeddingCache:
    """Caption embeddings by number, computed when first asked for."""

    def __init__(self, text_encoder: TextEncoder) -> None:
        self.text_encoder: TextEncoder | None = text_encoder
        self.embeddings: dict[int, Tensor] = {}

    @torch.no_grad()
    def precompute(self, captions: Tensor) -> None:
        """Encode all captions."""
        assert self.text_encoder is not None
        for number, tokens in enumerate(captions):
            self.embeddings[number] = self.text_encoder(tokens[None])[0]

    def lookup(self, numbers: list[int]) -> Tensor:
        """Embeddings of some captions."""
        return torch.stack([self.embeddings[number] for number in numbers])


class SamplingPipeline:
    """Draws validation images; only its components matter here."""

    def __init__(self, **components: nn.Module | None) -> None:
        self.components = components


class Trainer:
    """Encodes captions, unloads the encoder, trains the denoiser."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.text_encoder: TextEncoder | None = TextEncoder(config).eval().requires_grad_(False)
        self.denoiser = Denoiser(config.text_width)
        self.optimizer = torch.optim.AdamW(self.denoiser.parameters(), lr=config.learning_rate)
        self.cache = EmbeddingCache(self.text_encoder)
        self.pipeline = SamplingPipeline(text_encoder=self.text_encoder, denoiser=self.denoiser)
        self.offloadable_blocks = list(self.text_encoder.blocks)
        self.captions = torch.randint(1000, (config.num_captions, 16))
        self.memory = LiveBytes()

    def unload_text_encoder(self) -> None:
        """What looks like enough."""
        self.text_encoder = None

    def unload_text_encoder_everywhere(self) -> None:
        """What is enough."""
        self.text_encoder = None
        self.cache.text_encoder = None
        self.pipeline.components["text_encoder"] = None
        self.offloadable_blocks.clear()

    def train_step(self, step: int) -> float:
        """One update on random latents."""
        first = step * self.config.batch_size
        numbers = [(first + offset) % self.config.num_captions for offset in range(self.config.batch_size)]
        caption = self.cache.lookup(numbers)
        noise, latent = torch.randn(2, self.config.batch_size, 256)
        time = torch.rand(self.config.batch_size, 1)
        self.memory.sample()
        loss = nn.functional.l1_loss(self.denoiser(latent + time * noise, time, caption), noise)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def train(self, *, fixed: bool) -> float:
        """The whole job; gives back the last loss."""
        self.cache.precompute(self.captions)
        if fixed:
            self.unload_text_encoder_everywhere()
        else:
            self.unload_text_encoder()
        loss = 0.0
        for step in range(self.config.num_steps):
            loss = self.train_step(step)
        return loss


def main() -> None:
    """Train and say what was alive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="with the remedy")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    trainer = Trainer(Config())
    print(f"last loss {trainer.train(fixed=arguments.fixed):.4f}")
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
