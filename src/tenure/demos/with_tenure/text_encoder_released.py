"""The same job as text_encoder_unloaded.py; its text encoder is unloaded by one call, which says what came back.

Nobody has to know the four places that hold on to it: the memory goes whoever has the module.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch
from text_encoder_unloaded import Config, Trainer

import tenure


class ReleasingTrainer(Trainer):
    """Unloads with `tenure.release`: trainer and list of blocks let go, cache and pipeline keep an empty shell."""

    def unload_text_encoder(self) -> None:
        """One call."""
        outcome = tenure.release(self.text_encoder, self)
        print(outcome)
        assert outcome.complete


def main() -> None:
    """Train and say what was alive."""
    torch.manual_seed(0)
    trainer = ReleasingTrainer(Config())
    print(f"last loss {trainer.train(fixed=False):.4f}")
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
