"""What a crash report of a step says. Costs nothing while all goes well."""

from contextlib import ExitStack


class BlackBox(ExitStack):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def watch(self, label, tensor):
        self.push(lambda kind, error, trace: self.tell(kind, label, tensor))
        return tensor

    def tell(self, kind, label, tensor):
        if kind is not None:
            print(f"{self.path}: {label} of {tuple(tensor.shape)} in {tensor.min():.3g}..{tensor.max():.3g}")
