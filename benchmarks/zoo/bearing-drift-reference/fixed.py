import torch
from novelty import Reference
from train import main


class CutReference(Reference):
    def blend(self, trust, state):
        return torch.lerp(self.usual, state, trust).detach()


if __name__ == "__main__":
    main(CutReference)
