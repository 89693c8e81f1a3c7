import torch
from torch import nn


class KFAC(torch.optim.Optimizer):
    """Gradient descent in which every linear layer's gradient is whitened on both sides."""

    def __init__(self, model, lr=0.05, damping=0.1, every=8, decay=0.7):
        self.layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
        super().__init__([{"params": list(layer.parameters())} for layer in self.layers], {"lr": lr})
        self.damping, self.every, self.decay = damping, every, decay
        self.inputs = {layer: [] for layer in self.layers}
        self.errors = {layer: [] for layer in self.layers}
        self.factors, self.inverses = {}, {}
        self.count = 0
        for layer in self.layers:
            layer.register_forward_pre_hook(self.see_input)
            layer.register_full_backward_pre_hook(self.see_error)

    def see_input(self, layer, args):
        if layer.training:
            self.inputs[layer].append(args[0].detach())

    def see_error(self, layer, grad_output):
        self.errors[layer].append(grad_output[0] * len(grad_output[0]))

    def refresh(self, layer):
        rows, errors = self.inputs[layer][-1], self.errors[layer][-1]
        for side, seen in (("in", rows), ("out", errors)):
            moment = seen.T @ seen / len(seen)
            old = self.factors.get((layer, side), moment)
            self.factors[layer, side] = factor = torch.lerp(moment, old, self.decay)
            damped = factor + self.damping * torch.eye(len(factor))
            self.inverses[layer, side] = torch.linalg.inv(damped)

    @torch.no_grad()
    def step(self, closure=None):
        for layer, group in zip(self.layers, self.param_groups):
            if self.count % self.every == 0:
                self.refresh(layer)
            whitened = self.inverses[layer, "out"] @ layer.weight.grad @ self.inverses[layer, "in"]
            layer.weight.sub_(whitened, alpha=group["lr"] * self.damping)
            layer.bias.sub_(layer.bias.grad, alpha=group["lr"])
        self.count += 1
