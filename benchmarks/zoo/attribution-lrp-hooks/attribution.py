from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def attributed(model, template):
    handles = [template.copy().attach(layer) for layer in model if isinstance(layer, nn.Linear)]
    try:
        yield model
    finally:
        for handle in handles:
            handle.remove()


def relevance(model, rows, template):
    rows = rows.clone().requires_grad_()
    with attributed(model, template) as composed:
        scores = composed(rows)
        (gradient,) = torch.autograd.grad(scores.amax(1).sum(), rows)
    return (gradient * rows).detach().sum(0)
