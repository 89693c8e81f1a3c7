import math


class UpdateMeter:
    """How far the weights travel in each step, relative to their own length."""

    def __init__(self, parameters, smoothing=0.9):
        self.parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self.smoothing = smoothing
        self.ratio = None

    def length(self):
        return math.sqrt(sum(parameter.detach().square().sum().item() for parameter in self.parameters))

    def gradient(self):
        return math.sqrt(
            sum(parameter.grad.square().sum().item() for parameter in self.parameters if parameter.grad is not None)
        )

    def update(self, lr):
        ratio = lr * self.gradient() / max(self.length(), 1e-8)
        self.ratio = ratio if self.ratio is None else self.smoothing * self.ratio + (1 - self.smoothing) * ratio


class Dashboard:
    def __init__(self, meter=UpdateMeter):
        self.meter = meter
        self.lines = {}

    def follow(self, name, network):
        self.lines[name] = self.meter(network.parameters())
        return self.lines[name]

    def show(self):
        for name, line in self.lines.items():
            print(f"{name:10} update ratio {line.ratio:.2e}")
