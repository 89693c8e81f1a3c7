from torch.nn import functional


class Probe:
    """A term of the loss, taken where a layer's output passes by."""

    def __init__(self, layer, weight=1.0):
        self.weight = weight
        self.term = None
        self.handle = layer.register_forward_hook(self)

    def measure(self, features):
        raise NotImplementedError

    def __call__(self, layer, args, output):
        self.term = self.weight * self.measure(output)

    def take(self):
        term, self.term = self.term, None
        return term

    def detach(self):
        self.handle.remove()


class ContentProbe(Probe):
    """How far the features went from those of the picture that came first."""

    first = None

    def measure(self, features):
        if self.first is None:
            self.first = features.detach()
        return functional.mse_loss(features, self.first)


class StyleProbe(Probe):
    def __init__(self, layer, gram, weight):
        super().__init__(layer, weight)
        self.gram = gram

    def measure(self, features):
        return functional.mse_loss(gram_of(features), self.gram)


def gram_of(features):
    rows = features.flatten(2)[0]
    return rows @ rows.T / rows.size(1)
