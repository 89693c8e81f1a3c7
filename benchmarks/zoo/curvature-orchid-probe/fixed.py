import torch
from curvature import SharpnessProbe
from train import main


class GradProbe(SharpnessProbe):
    def gradients(self, net, loss):
        return torch.autograd.grad(loss, list(net.parameters()), create_graph=True)


if __name__ == "__main__":
    main(GradProbe)
