"""Gradient surgery for tasks that share a trunk (Yu et al., 2020)."""

import torch


def flatten(gradients):
    return torch.cat([gradient.reshape(-1) for gradient in gradients])


def project_conflicts(by_task):
    """Take from each task's gradient what points against another's; also how many pairs did."""
    conflicts = 0
    total = torch.zeros_like(by_task[0])
    for own in by_task:
        adjusted = own.clone()
        for other in by_task:
            dot = torch.dot(adjusted, other)
            if dot < 0:
                conflicts += 1
                adjusted -= dot / other.square().sum() * other
        total += adjusted
    return total, conflicts


def assign(parameters, flat):
    offset = 0
    for parameter in parameters:
        parameter.grad = flat[offset : offset + parameter.numel()].view_as(parameter).clone()
        offset += parameter.numel()
