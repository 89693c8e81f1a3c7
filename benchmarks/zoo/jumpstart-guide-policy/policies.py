import itertools

import torch
from torch import nn

BUILDERS = {}


def builder(name):
    def note(function):
        BUILDERS[name] = function
        return function

    return note


def controller(tanks, width, depth):
    sizes = [2 * tanks] + [width] * depth
    layers = [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), nn.Tanh())]
    return nn.Sequential(*layers, nn.Linear(width, tanks))


@builder("plain")
def plain(learner, **settings):
    return lambda observation, moment: learner(observation)


@builder("jumpstart")
def jumpstart(learner, guide, handover):
    def act(observation, moment):
        if moment < handover():
            with torch.no_grad():
                return guide(observation)
        return learner(observation)

    return act
