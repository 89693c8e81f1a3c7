"""Language model pre-training that keeps each step's loss on the device, to look at them all when it logs.

Reading a loss each step would wait for the device, so they are collected; with rare logging the list does not
end. On a GPU each of these scalars takes a block of 512 bytes and pins the segment it lies in. `--fixed` adds
into one tensor made beforehand: still nothing is read and nothing waits.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from measure import LiveBytes
from torch import Tensor, nn


@dataclass(frozen=True)
class JobConfig:
    """Training and logging."""

    num_steps: int = 120
    log_every: int = 1000
    batch_size: int = 4
    sequence_length: int = 32
    vocabulary: int = 256
    width: int = 64
    num_layers: int = 2
    learning_rate: float = 3e-4


class LanguageModel(nn.Module):
    """A small causal transformer."""

    def __init__(self, config: JobConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        layer = nn.TransformerEncoderLayer(config.width, 4, 4 * config.width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, config.num_layers, enable_nested_tensor=False)
        self.output = nn.Linear(config.width, config.vocabulary)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(config.sequence_length))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits for each position."""
        return self.output(self.layers(self.embedding(tokens), mask=self.mask))


class LossesUntilLog:
    """Keeps every loss and gradient norm on the device until the next log line."""

    def __init__(self) -> None:
        self.losses: list[Tensor] = []
        self.grad_norms: list[Tensor] = []

    def record(self, loss: Tensor, grad_norm: Tensor) -> None:
        """Remember one step."""
        self.losses.append(loss.detach())
        self.grad_norms.append(grad_norm)

    def flush(self) -> str:
        """Mean loss and largest gradient norm since the last line."""
        loss = torch.stack(self.losses).mean().item()
        grad_norm = torch.stack(self.grad_norms).max().item()
        self.losses.clear()
        self.grad_norms.clear()
        return f"loss {loss:.4f}  grad norm {grad_norm:.4f}"


class RunningLoss:
    """The same log line from two tensors that never grow; nothing here waits for the device."""

    def __init__(self, device: torch.device) -> None:
        self.loss_sum = torch.zeros((), device=device)
        self.grad_norm_max = torch.zeros((), device=device)
        self.num_steps = 0

    def record(self, loss: Tensor, grad_norm: Tensor) -> None:
        """Add one step in place."""
        self.loss_sum += loss.detach()
        torch.maximum(self.grad_norm_max, grad_norm, out=self.grad_norm_max)
        self.num_steps += 1

    def flush(self) -> str:
        """Mean loss and largest gradient norm since the last line."""
        line = f"loss {self.loss_sum.item() / self.num_steps:.4f}  grad norm {self.grad_norm_max.item():.4f}"
        self.loss_sum.zero_()
        self.grad_norm_max.zero_()
        self.num_steps = 0
        return line


class Trainer:
    """The training job."""

    def __init__(self, config: JobConfig, metrics: LossesUntilLog | RunningLoss) -> None:
        self.config = config
        self.metrics = metrics
        self.model = LanguageModel(config)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.learning_rate)
        self.memory = LiveBytes()

    def batches(self) -> Iterator[Tensor]:
        """Random token sequences."""
        shape = (self.config.batch_size, self.config.sequence_length + 1)
        for _ in range(self.config.num_steps):
            yield torch.randint(self.config.vocabulary, shape)

    def train_step(self, tokens: Tensor) -> None:
        """Forward, backward, update, remember."""
        self.memory.sample()
        logits = self.model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        del logits
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.metrics.record(loss, grad_norm)

    def train(self) -> None:
        """The whole run, with a log line now and then and one at the end."""
        for step, tokens in enumerate(self.batches(), start=1):
            self.train_step(tokens)
            if step % self.config.log_every == 0 or step == self.config.num_steps:
                print(f"step {step:5d}  {self.metrics.flush()}")


def main() -> None:
    """Train and say what was alive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="with the remedy")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    metrics = RunningLoss(torch.device("cpu")) if arguments.fixed else LossesUntilLog()
    trainer = Trainer(JobConfig(), metrics)
    trainer.train()
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
