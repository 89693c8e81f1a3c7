"""How many bytes does a step save for its backward pass, and in which shapes?"""

from collections import Counter
from contextlib import contextmanager

from torch.autograd.graph import saved_tensors_hooks


class StepRecord:
    def __init__(self, number):
        self.number = number
        self.saved = []

    def add(self, tensor):
        storage = tensor.untyped_storage()
        self.saved.append((storage.data_ptr(), storage.nbytes(), tuple(tensor.shape)))
        return tensor

    @property
    def nbytes(self):
        return sum({place: nbytes for place, nbytes, _ in self.saved}.values())

    def shapes(self, count=2):
        return Counter(shape for _, _, shape in self.saved).most_common(count)


class SavedBytesMeter:
    def __init__(self):
        self.records = []

    @contextmanager
    def step(self):
        record = StepRecord(len(self.records) + 1)
        self.records.append(record)
        with saved_tensors_hooks(record.add, lambda tensor: tensor):
            yield record

    def summary(self):
        last = self.records[-1]
        return f"{last.nbytes / 2**20:.1f} MiB saved, mostly {last.shapes()}"
