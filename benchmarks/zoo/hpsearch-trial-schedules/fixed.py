from objective import Objective
from torch.optim.lr_scheduler import LambdaLR
from train import main


class FreeObjective(Objective):
    def schedule(self, optimizer, trial):
        decay = trial.params["decay"]
        return LambdaLR(optimizer, lambda step: 1 / (1 + decay * step))


if __name__ == "__main__":
    main(FreeObjective())
