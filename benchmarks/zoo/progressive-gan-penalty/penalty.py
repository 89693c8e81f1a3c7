import torch


class SlopePenalty:
    """Keeps the critic's slope near one on lines between true and made images."""

    def __init__(self, weight=10.0):
        self.weight = weight

    def between(self, real, made):
        place = torch.rand(real.size(0), 1, 1, 1)
        return (place * real + (1 - place) * made).detach().requires_grad_()

    def __call__(self, critic, real, made):
        mixed = self.between(real, made)
        scores = critic(mixed)
        scores.backward(torch.ones_like(scores), create_graph=True)
        slope = mixed.grad.flatten(1).norm(dim=1)
        critic.zero_grad()
        return self.weight * (slope - 1).square().mean()
