import math

import torch
from solver import HeatProblem, Solver


def main(steps=40, **options):
    torch.manual_seed(2)
    solver = Solver(HeatProblem(), **options)
    best = float("inf")
    for step in range(steps):
        best = min(best, solver.step())
        if step % 10 == 0:
            print(f"step {step}, residual below 1e{math.ceil(math.log10(best))}")


if __name__ == "__main__":
    main()
