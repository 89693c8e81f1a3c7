from train import main
from trainer import Trainer


class DetachingTrainer(Trainer):
    def training_step(self, batch):
        return super().training_step(batch).detach()


if __name__ == "__main__":
    main(DetachingTrainer)
