import torch
from persample import PerSampleNorms
from train import main


class TrainingOnlyNorms(PerSampleNorms):
    def _forward(self, layer, args, output):
        if torch.is_grad_enabled():
            super()._forward(layer, args, output)


if __name__ == "__main__":
    main(TrainingOnlyNorms)
