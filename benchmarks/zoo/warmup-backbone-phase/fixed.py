from schedule import PhasedTrainer
from train import main


class ClearingTrainer(PhasedTrainer):
    def enter(self, phase):
        self.model.zero_grad(set_to_none=True)
        return super().enter(phase)


if __name__ == "__main__":
    main(ClearingTrainer)
