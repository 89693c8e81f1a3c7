import torch


class SinkWindow:
    """Keys and values of the first notes and of the latest ones, in slots that are written over in turn."""

    def __init__(self, layers, batch, heads, width, sinks=8, window=88):
        self.sinks, self.window = sinks, window
        self.keys = torch.zeros(layers, batch, heads, sinks + window, width)
        self.values = torch.zeros_like(self.keys)
        self.seen = 0

    def slots(self, count):
        places = torch.arange(self.seen, self.seen + count)
        late = places >= self.sinks + self.window
        return torch.where(late, self.sinks + (places - self.sinks) % self.window, places)

    def write(self, layer, keys, values):
        slots = self.slots(keys.shape[2])
        self.keys[layer].index_copy_(2, slots, keys)
        self.values[layer].index_copy_(2, slots, values)
        held = min(self.seen + keys.shape[2], self.sinks + self.window)
        return self.keys[layer, :, :, :held], self.values[layer, :, :, :held]

    def advance(self, count):
        self.seen += count
