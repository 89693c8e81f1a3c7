from ensembling import EnsembleTargets
from train import main


class FixedTargets(EnsembleTargets):
    def update(self, index, logits):
        super().update(index, logits.detach())


if __name__ == "__main__":
    main(FixedTargets)
