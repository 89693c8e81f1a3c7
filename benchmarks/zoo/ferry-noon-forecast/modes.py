"""How the callables of a job are to be run, in one place."""

import functools

import torch


def frozen(function):
    """Network in evaluation mode and no graph; both as before afterwards."""

    @functools.wraps(function)
    def wrapper(network, *args, **kwargs):
        was_training = network.training
        network.eval()
        try:
            with torch.no_grad():
                return function(network, *args, **kwargs)
        finally:
            network.train(was_training)

    return wrapper


class Registry(dict):
    """Named callables, each in its mode."""

    def __init__(self, **modes):
        super().__init__()
        self.modes = modes

    def register(self, name, mode="plain"):
        def decorate(function):
            self[name] = self.modes.get(mode, lambda same: same)(function)
            return function

        return decorate


jobs = Registry(evaluation=frozen)
