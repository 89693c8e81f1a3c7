"""Sparse fine-tuning: at each step only the weights with the largest recent gradients may move."""

from functools import partial

import torch


class SparseTuner:
    def __init__(self, model, share=0.2, smooth=0.8):
        self.share = share
        self.smooth = smooth
        self.weights = {name: p for name, p in model.named_parameters() if p.ndim == 2}
        self.saliency = {name: torch.zeros_like(p) for name, p in self.weights.items()}

    def choose(self, name):
        """One where a weight may move, else zero."""
        saliency = self.saliency[name]
        count = max(1, int(self.share * saliency.numel()))
        border = saliency.flatten().kthvalue(saliency.numel() - count + 1).values
        return (saliency >= border).float()

    def freeze(self, name, mask):
        self.weights[name].register_hook(partial(torch.mul, mask))

    def before_backward(self):
        for name in self.weights:
            self.freeze(name, self.choose(name))

    @torch.no_grad()
    def after_backward(self):
        for name, weight in self.weights.items():
            self.saliency[name].mul_(self.smooth).add_(weight.grad.abs(), alpha=1 - self.smooth)
