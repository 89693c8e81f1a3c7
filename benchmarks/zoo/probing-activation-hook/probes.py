class ActivationProbe:
    """Collects what chosen layers put out, for a look at their distribution."""

    def __init__(self):
        self.activations = []
        self.handles = []

    def watch(self, layer):
        self.handles.append(layer.register_forward_hook(self._record))

    def _record(self, layer, inputs, output):
        self.activations.append(output.detach())

    def mean_scale(self):
        recent = self.activations[-5:]
        return sum(a.abs().mean().item() for a in recent) / max(len(recent), 1)
