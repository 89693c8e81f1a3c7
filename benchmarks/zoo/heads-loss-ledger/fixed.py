from runner import Ledger
from train import main


class NumberLedger(Ledger):
    def write(self, iteration, log_vars, **extra):
        super().write(iteration, {key: value.item() for key, value in log_vars.items()}, **extra)


if __name__ == "__main__":
    main(NumberLedger)
