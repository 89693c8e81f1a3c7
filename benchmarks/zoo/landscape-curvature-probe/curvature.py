import copy

import torch


class CurvatureProbe:
    """Curvature of the loss along random directions, taken on a copy so that training is not disturbed."""

    def __init__(self, loss_function, directions=1):
        self.loss_function = loss_function
        self.directions = directions

    def along(self, grads, parameters):
        direction = [torch.randn_like(value) for value in parameters]
        slope = sum((grad * part).sum() for grad, part in zip(grads, direction))
        bent = torch.autograd.grad(slope, parameters, retain_graph=True)
        square = sum((a * b).sum().item() for a, b in zip(bent, direction))
        return square / sum(part.square().sum().item() for part in direction)

    def __call__(self, model, batch, labels):
        probed = copy.deepcopy(model)
        parameters = list(probed.parameters())
        self.loss_function(probed(batch), labels).backward(create_graph=True)
        return max(self.along([value.grad for value in parameters], parameters) for _ in range(self.directions))
