"""Trains the acoustic half of a speech synthesiser."""

import torch

from voice.acoustic import AcousticModel, Utterances
from voice.guard_b import FrozenGuard
from voice.phases import Calibration, MelRegression
from voice.vocoder import Vocoder


class Recipe:
    def __init__(self):
        self.guard = FrozenGuard()
        self.acoustic = AcousticModel()
        self.utterances = Utterances(seed=6)

    def calibrate(self):
        loudness = Calibration(Vocoder(), self.guard).run(self.acoustic, self.utterances)
        print(f"calibrated at loudness {loudness:.3f}")

    def regress(self, steps):
        phase = MelRegression(self.acoustic)
        for step in range(steps):
            loss = phase.step(*self.utterances.draw(12))
            if (step + 1) % 8 == 0:
                print(f"step {step + 1}: mel l1 {loss:.3f}")


def main():
    torch.manual_seed(77)
    recipe = Recipe()
    recipe.calibrate()
    recipe.regress(32)


if __name__ == "__main__":
    main()
