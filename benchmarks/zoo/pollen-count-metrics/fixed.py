from grains.metrics import LocalCountError
from train import main


class MeanCountError(LocalCountError):
    def state(self, name, value):
        super().state(name, value.mean())


if __name__ == "__main__":
    main(MeanCountError)
