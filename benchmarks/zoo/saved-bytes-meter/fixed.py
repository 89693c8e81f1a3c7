from meter import SavedBytes
from train import main


class DetachingMeter(SavedBytes):
    def _pack(self, tensor):
        return super()._pack(tensor).detach()


if __name__ == "__main__":
    main(DetachingMeter)
