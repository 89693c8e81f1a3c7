"""Speech recognition whose previous result is still bound while the next forward runs.

The transducer loss computes its gradient during the forward and keeps it on `ctx`. `backward()` does not free
what lies there: it stays until the last name for the loss is gone. `--fixed` drops the names in time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from measure import LiveBytes
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """What `conf/train.yaml` would say."""

    num_steps: int = 40
    batch_size: int = 6
    num_frames: int = 60
    num_labels: int = 20
    vocabulary: int = 128
    width: int = 96
    learning_rate: float = 1e-3


class TransducerLoss(torch.autograd.Function):
    """Negative log likelihood over the (frames x labels) lattice, its gradient made in the forward."""

    @staticmethod
    def forward(ctx, lattice: Tensor, targets: Tensor) -> Tensor:
        """Mean loss; the gradient of the whole lattice is kept for backward."""
        log_probs = lattice.log_softmax(dim=-1)
        index = targets[:, None, :, None].expand(-1, lattice.size(1), -1, 1)
        count = targets.numel() * lattice.size(1)
        grads = log_probs.exp_()
        picked = grads.gather(-1, index)
        grads.scatter_add_(-1, index, torch.full_like(picked, -1.0))
        ctx.grads = grads.div_(count)
        return -picked.log().sum() / count

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None]:
        """Scale the gradient made in the forward."""
        return ctx.grads * grad_output, None


class Transducer(nn.Module):
    """Encoder, label decoder and a joint network."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.encoder = nn.GRU(40, config.width, batch_first=True)
        self.decoder = nn.Embedding(config.vocabulary, config.width)
        self.joint = nn.Linear(config.width, config.vocabulary)

    def forward(self, speech: Tensor, text: Tensor) -> dict[str, object]:
        """Loss, statistics and weight of one batch."""
        encoded, _ = self.encoder(speech)
        lattice = self.joint(torch.tanh(encoded[:, :, None] + self.decoder(text)[:, None]))
        loss = TransducerLoss.apply(lattice, text)
        return {"loss": loss, "stats": {"loss": loss.detach()}, "weight": speech.size(0)}


def utterances(config: Config) -> Iterator[dict[str, Tensor]]:
    """Random speech and labels."""
    for _ in range(config.num_steps):
        yield {
            "speech": torch.randn(config.batch_size, config.num_frames, 40),
            "text": torch.randint(config.vocabulary, (config.batch_size, config.num_labels)),
        }


class Trainer:
    """One epoch at a time."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.model = Transducer(config)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.learning_rate)
        self.memory = LiveBytes()

    def train_one_epoch(self) -> float:
        """As many write it: `retval` and `loss` are rebound only after the next forward has returned."""
        average = 0.0
        for batch in utterances(self.config):
            self.memory.sample()
            retval = self.model(**batch)
            loss = retval["loss"]
            stats = retval["stats"]
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            average += (float(stats["loss"]) - average) * 0.1
        return average

    def train_one_epoch_fixed(self) -> float:
        """The same epoch; every name for this step's graph is gone before the next forward."""
        average = 0.0
        for batch in utterances(self.config):
            self.memory.sample()
            retval = self.model(**batch)
            loss = retval["loss"]
            stats = retval["stats"]
            del retval
            loss.backward()
            del loss
            self.optimizer.step()
            self.optimizer.zero_grad()
            average += (float(stats["loss"]) - average) * 0.1
        return average


def main() -> None:
    """Train for one epoch and say what was alive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="with the remedy")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    trainer = Trainer(Config())
    average = trainer.train_one_epoch_fixed() if arguments.fixed else trainer.train_one_epoch()
    print(f"average loss {average:.4f}")
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
