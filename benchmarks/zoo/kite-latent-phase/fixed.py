from datamodule import Kites
from train import main


class LatentKites(Kites):
    def prepare(self, size=16):
        super().prepare(size)
        self.vae = None


if __name__ == "__main__":
    main(LatentKites)
