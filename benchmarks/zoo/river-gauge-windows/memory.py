"""State of a recurrent network between windows of a long record."""

import torch


def cut(value):
    """The same structure without history."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {key: cut(item) for key, item in value.items()}
    return type(value)(cut(item) for item in value)


class WindowMemory:
    """Holds what each named part of the network handed on."""

    def __init__(self):
        self.parts = {}

    def __getitem__(self, name):
        return self.parts.get(name)

    def __setitem__(self, name, state):
        self.parts[name] = cut(state)

    def reset(self):
        self.parts.clear()
