from memory import AssociativeMemory
from train import main


class BlockwiseMemory(AssociativeMemory):
    def write(self, x):
        if self.matrix is not None:
            self.matrix = self.matrix.detach()
        super().write(x)


if __name__ == "__main__":
    main(BlockwiseMemory)
