"""The same job as retval_over_forward.py; each step stands in a scope that lets no graph out.

Nobody has to find every name for this step's graph and delete it in time: what the block binds loses it at its end.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch
from retval_over_forward import Config, Trainer, utterances

import tenure


class ScopedTrainer(Trainer):
    """The epoch as many write it, with `tenure.step_scope` around the step."""

    def train_one_epoch(self) -> float:
        """One line more than the leaky one."""
        average = 0.0
        for batch in utterances(self.config):
            with tenure.step_scope() as scope:
                self.memory.sample()
                retval = self.model(**batch)
                loss = retval["loss"]
                stats = retval["stats"]
                loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
                average += (float(stats["loss"]) - average) * 0.1
        print(scope.outcome)
        return average


def main() -> None:
    """Train for one epoch and say what was alive."""
    torch.manual_seed(0)
    trainer = ScopedTrainer(Config())
    print(f"average loss {trainer.train_one_epoch():.4f}")
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
