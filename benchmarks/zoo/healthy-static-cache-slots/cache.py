import torch


class SlotCache:
    """Keys and values of every slot and layer, allocated once; a finished slot is overwritten by the next request."""

    def __init__(self, layers, slots, length, dim):
        self.keys = torch.zeros(layers, slots, length, dim)
        self.values = torch.zeros(layers, slots, length, dim)
        self.filled = [0] * slots

    def release(self, slot):
        self.filled[slot] = 0

    def put(self, layer, slot, key, value):
        end = self.filled[slot] + key.size(0)
        self.keys[layer, slot, self.filled[slot] : end] = key
        self.values[layer, slot, self.filled[slot] : end] = value
        return self.keys[layer, slot, :end], self.values[layer, slot, :end]

    def advance(self, slot, count):
        self.filled[slot] += count
