import torch
from penalty import SlopePenalty
from train import main


class GradPenalty(SlopePenalty):
    def __call__(self, critic, real, made):
        mixed = self.between(real, made)
        scores = critic(mixed)
        (grad,) = torch.autograd.grad(scores, mixed, torch.ones_like(scores), create_graph=True)
        return self.weight * (grad.flatten(1).norm(dim=1) - 1).square().mean()


if __name__ == "__main__":
    main(GradPenalty)
