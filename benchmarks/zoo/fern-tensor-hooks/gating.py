import torch


def gate(gradient, activation, floor=0.02):
    """Lets less of the gradient through where the unit was nearly silent."""
    return gradient * (activation.abs() > floor) + 0.1 * gradient * (activation.abs() <= floor)


def gated(activation):
    if activation.requires_grad:
        activation.register_hook(lambda gradient: gate(gradient, activation))
    return activation
