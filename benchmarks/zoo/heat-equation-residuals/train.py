import torch
from field import Collocation, TemperatureField
from physics import EpochSummary
from solve import Solver


def main(summary_class=EpochSummary):
    torch.manual_seed(60)
    solver = Solver(TemperatureField(), Collocation(), summary_class)
    for number in range(2):
        print(number, solver.epoch(24).line())


if __name__ == "__main__":
    torch.set_printoptions(precision=4)
    main()
