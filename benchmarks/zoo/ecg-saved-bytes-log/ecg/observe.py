"""What a step saves for its backward pass, and how the inputs of some layers are scaled."""

import weakref
from collections import deque

import torch
from torch.autograd.graph import saved_tensors_hooks


class SavedLedger:
    """Sizes of what is saved; the tensors themselves are seen through weak references only."""

    def __init__(self, window=8):
        self.history = deque(maxlen=window)
        self._seen = []

    def _pack(self, tensor):
        self._seen.append((weakref.ref(tensor), tensor.untyped_storage().nbytes()))
        return tensor

    def __enter__(self):
        self._seen = []
        self._hooks = saved_tensors_hooks(self._pack, lambda tensor: tensor)
        self._hooks.__enter__()
        return self

    def __exit__(self, *error):
        self._hooks.__exit__(*error)
        alive = [size for ref, size in self._seen if ref() is not None]
        self.history.append((len(alive), sum(alive)))

    def summary(self):
        count = sum(n for n, _ in self.history) / len(self.history)
        nbytes = sum(b for _, b in self.history) / len(self.history)
        return f"{count:.0f} tensors, {nbytes / 2**20:.1f} MiB"


class InputScales:
    """Running mean and spread of what flows into the named layers, over all examples."""

    def __init__(self, model, names):
        self.sums = {name: torch.zeros(3, dtype=torch.float64) for name in names}
        self.handles = [
            model.get_submodule(name).register_forward_pre_hook(self._tap(name)) for name in names
        ]

    def _tap(self, name):
        def add(module, inputs):
            x = inputs[0].detach()
            self.sums[name] += torch.tensor([x.numel(), x.sum().item(), x.square().sum().item()]).double()

        return add

    def table(self):
        rows = {}
        for name, (count, total, squares) in ((k, v.tolist()) for k, v in self.sums.items()):
            mean = total / count
            rows[name] = (round(mean, 3), round((squares / count - mean**2) ** 0.5, 3))
        return rows

    def close(self):
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
