"""Glacier fronts from radar: a teacher's features guide the first steps, then the student goes on alone."""

import torch

from glacier.distil import FeatureGuide
from glacier.fronts import FrontNet, Radar
from glacier.loop import Loop


def main(guide_class=FeatureGuide, steps=42, guided=10):
    torch.manual_seed(50)
    student = FrontNet(width=24)
    loop = Loop(student, Radar(), guide_class(student, FrontNet(width=1100).requires_grad_(False)))
    for step in range(steps):
        if step == guided:
            loop.dismiss()
        loss = loop.step()
        if step % 7 == 6:
            print(f"step {step} loss {loss:.4f}")


if __name__ == "__main__":
    main()
