import torch
from layers import quiet_terms
from torch.nn import functional


def jitter(points, generator):
    turned = points * (1 + 0.1 * torch.randn(points.size(0), 1, generator=generator))
    return turned + 0.05 * torch.randn(points.shape, generator=generator)


def agreement(one, other):
    return 2 - 2 * functional.cosine_similarity(one, other.detach(), -1).mean()


class TwoViews:
    """Brings the codes of two versions of a sensor window together."""

    def __init__(self, encoder, predictor, lr=0.01):
        self.encoder, self.predictor = encoder, predictor
        self.generator = torch.Generator().manual_seed(4)
        self.optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=lr, momentum=0.9)

    def step(self, windows):
        first, second = (self.encoder(jitter(windows, self.generator)) for _ in range(2))
        loss = (agreement(self.predictor(first), second) + agreement(self.predictor(second), first)) / 2
        penalty = quiet_terms(self.encoder)
        self.optimizer.zero_grad()
        (loss + penalty).backward()
        self.optimizer.step()
        return loss.item(), penalty.item()
