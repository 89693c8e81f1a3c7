import torch
from distiller import Distiller
from train import main


class FrugalDistiller(Distiller):
    def run(self, batches):
        self.run_phase("imitate", self.imitation_loss, batches, 12)
        self.teacher = None
        self.run_phase("boxes", self.box_loss, batches, 36)


if __name__ == "__main__":
    torch.manual_seed(11)
    main(FrugalDistiller())
