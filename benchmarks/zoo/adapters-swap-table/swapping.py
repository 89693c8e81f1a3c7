from functools import partial

from host import Adapted, LowRank


class Swapper:
    """Puts the adapters of one writer in place of those of the one before, and can take a change back."""

    def __init__(self, host):
        self.host = host
        self.steps_back = []

    def layers(self):
        return (layer for layer in self.host.modules() if isinstance(layer, Adapted))

    def place(self, layer, beside):
        layer.beside = beside

    def fresh(self):
        for layer in self.layers():
            self.remember(layer)
            self.place(layer, LowRank(layer.base.in_features))
        return [p for p in self.host.parameters() if p.requires_grad]

    def remember(self, layer):
        self.steps_back.append(partial(self.place, layer, layer.beside))

    def back(self):
        """To what was in place before the last writer."""
        for _ in self.host.layers:
            self.steps_back.pop()()
