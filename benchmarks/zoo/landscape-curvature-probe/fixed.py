import copy

import torch
from curvature import CurvatureProbe
from train import main


class GradProbe(CurvatureProbe):
    def __call__(self, model, batch, labels):
        probed = copy.deepcopy(model)
        parameters = list(probed.parameters())
        grads = torch.autograd.grad(self.loss_function(probed(batch), labels), parameters, create_graph=True)
        return max(self.along(grads, parameters) for _ in range(self.directions))


if __name__ == "__main__":
    main(GradProbe)
