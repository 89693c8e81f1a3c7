from phases import PhasedTrainer, soft
from train import main


class FreeingTrainer(PhasedTrainer):
    def begin(self, phase):
        super().begin(phase)
        if phase.loss is not soft:
            self.teacher = None


if __name__ == "__main__":
    main(FreeingTrainer)
