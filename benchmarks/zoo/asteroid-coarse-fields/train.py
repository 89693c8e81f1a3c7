"""Two-stage deconvolution of asteroid survey plates: a frozen coarse net, then a refiner that is trained."""

import torch

from plates.cascade import Cascade
from plates.sky import Survey


def main(cascade_class=Cascade, steps=36):
    torch.manual_seed(4)
    survey = Survey()
    cascade = cascade_class()
    for step in range(steps):
        loss = cascade.learn(*survey.draw(12))
        if step % 12 == 11:
            print(f"step {step} residual {loss:.4f} brightest {cascade.brightest:.2f}")


if __name__ == "__main__":
    main()
