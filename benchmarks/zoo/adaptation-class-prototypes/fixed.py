from prototypes import PrototypeBank
from train import main


class DetachedBank(PrototypeBank):
    def update(self, features, labels):
        super().update(features.detach(), labels)


if __name__ == "__main__":
    main(DetachedBank)
