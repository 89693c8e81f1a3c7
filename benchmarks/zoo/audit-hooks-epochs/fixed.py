from functools import partial

import torch
from audit import SpectrumAudit
from train import main


class TidyAudit(SpectrumAudit):
    def on_epoch_start(self, epoch, model):
        self.handles = []
        for name in self.layers:
            sums = torch.zeros(self.shape)
            layer = model.get_submodule(name)
            self.handles.append(layer.register_forward_hook(partial(self.accumulate, sums)))
            self.energy[name] = sums

    def on_epoch_end(self, epoch, model):
        super().on_epoch_end(epoch, model)
        for handle in self.handles:
            handle.remove()


if __name__ == "__main__":
    main(TidyAudit)
