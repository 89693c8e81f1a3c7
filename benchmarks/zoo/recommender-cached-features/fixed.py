import torch
from features import FeatureStore
from train import main


class WholeTableStore(FeatureStore):
    def __init__(self):
        super().__init__()
        self.mixed = torch.tanh(self.table @ self.mix)

    def lookup(self, items):
        return self.mixed[items]


if __name__ == "__main__":
    main(WholeTableStore())
