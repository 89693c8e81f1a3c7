from physics import EpochSummary
from train import main


class NumberSummary(EpochSummary):
    def add(self, physics, residual):
        super().add(physics, residual.detach())


if __name__ == "__main__":
    main(NumberSummary)
