from torch import nn


class PerSampleNorms:
    """Gradient norm of each example, from a layer's inputs and the gradients of its outputs."""

    def __init__(self, model):
        self.norms = {}
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Linear):
                layer.records = []
                layer.register_forward_hook(self._forward)
                layer.register_full_backward_hook(self._backward_of(name))

    def _forward(self, layer, args, output):
        if layer.training:
            layer.records.append(args[0].detach())

    def _backward_of(self, name):
        def backward(layer, grad_in, grad_out):
            inputs = layer.records.pop()
            self.norms[name] = inputs.norm(dim=-1) * grad_out[0].norm(dim=-1)

        return backward

    def largest(self):
        return max(norm.amax().item() for norm in self.norms.values())
