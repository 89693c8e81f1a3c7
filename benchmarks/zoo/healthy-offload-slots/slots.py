"""Activations wait for the backward pass in numbered slots; a slot is free again when its tensor was fetched."""

import torch


class Slots(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self, smallest=2048):
        self.smallest = smallest
        self.kept = {}
        self.highest = self.bytes = self.most = 0
        super().__init__(self._put, self._take)

    def _put(self, tensor):
        if tensor.is_leaf or not tensor.is_floating_point() or tensor.numel() < self.smallest:
            return tensor
        self.highest += 1
        self.kept[self.highest] = tensor.detach().bfloat16()
        self.bytes += tensor.numel() * 2
        self.most = max(self.most, self.bytes)
        return self.highest

    def _take(self, slot):
        if not isinstance(slot, int):
            return slot
        tensor = self.kept.pop(slot)
        self.bytes -= tensor.nbytes
        return tensor.float()
