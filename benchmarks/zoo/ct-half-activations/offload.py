"""What autograd saves for the backward pass is kept in half precision, in a store of our own."""

import contextlib
import itertools
from dataclasses import dataclass, field

import torch
from torch.autograd.graph import saved_tensors_hooks


@dataclass
class HalfStore:
    smallest: int = 4096
    slots: dict = field(default_factory=dict)
    tickets: itertools.count = field(default_factory=itertools.count)
    put_in: int = 0

    def pack(self, tensor):
        if not tensor.is_floating_point() or tensor.numel() < self.smallest or isinstance(tensor, torch.nn.Parameter):
            return tensor
        ticket = next(self.tickets)
        self.slots[ticket] = tensor.detach().half()
        self.put_in += tensor.nbytes // 2
        return ticket

    def fetch(self, ticket):
        return self.slots[ticket]

    def unpack(self, packed):
        if isinstance(packed, torch.Tensor):
            return packed
        return self.fetch(packed).float()

    @contextlib.contextmanager
    def engaged(self):
        with saved_tensors_hooks(self.pack, self.unpack):
            yield self
