from functools import partial

import torch
from sparse import SparseTuner
from train import main


class OneMaskTuner(SparseTuner):
    def __init__(self, model, **options):
        super().__init__(model, **options)
        self.handles = {}

    def freeze(self, name, mask):
        if name in self.handles:
            self.handles[name].remove()
        self.handles[name] = self.weights[name].register_hook(partial(torch.mul, mask))


if __name__ == "__main__":
    main(OneMaskTuner)
