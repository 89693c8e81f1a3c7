"""Normalises loudness with a vocoder for a while, then trains the prosody model alone."""

import torch

from sermon.prosody import ProsodyModel, Readings
from sermon.recipe import Recipe
from sermon.watch import WeightNorms


def main(norms_class=WeightNorms, steps=40):
    torch.manual_seed(9)
    recipe = Recipe(ProsodyModel(), Readings(), norms_class())
    recipe.calibrate(rounds=4)
    recipe.retire_vocoder()
    for step in range(1, steps + 1):
        loss = recipe.learn()
        if step % 10 == 0:
            print(f"step {step}: contour {loss:.4f}, norms {recipe.norms.summary()}")


if __name__ == "__main__":
    main()
