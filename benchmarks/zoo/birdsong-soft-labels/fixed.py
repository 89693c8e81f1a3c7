from train import main
from trainer import DistillingTrainer


class LabellingTrainer(DistillingTrainer):
    def on_fit_start(self):
        super().on_fit_start()
        self.teacher = None


if __name__ == "__main__":
    main(LabellingTrainer)
