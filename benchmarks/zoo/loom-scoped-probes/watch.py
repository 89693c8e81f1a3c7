class Activations:
    """Copies of what chosen layers put out, and of the gradients that came back."""

    def __init__(self):
        self.forward = {}
        self.backward = {}

    def watch(self, scope, **modules):
        for name, module in modules.items():
            scope.adopt(module.register_forward_hook(self._catch(name)))
        return self

    def _catch(self, name):
        def hook(module, inputs, output):
            self.forward[name] = output.detach().clone()
            if output.requires_grad:
                output.register_hook(lambda gradient: self.backward.__setitem__(name, gradient.clone()))

        return hook

    def flow(self, name):
        """Mean size of activation times gradient."""
        return (self.forward[name] * self.backward[name]).abs().mean().item()


def dead_share(activation):
    return (activation <= 0).all(0).float().mean().item()


def describe(activations):
    return {
        name: f"{activations.flow(name):.2e}/{dead_share(value):.2f}" for name, value in activations.forward.items()
    }


def quiet(report):
    return ", ".join(f"{name} {text}" for name, text in report.items())
