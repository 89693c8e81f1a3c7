from torch import nn


def mlp(*sizes):
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [nn.Linear(fan_in, fan_out), nn.GELU()]
    return nn.Sequential(*layers[:-1])


def build_teacher():
    return mlp(128, 1024, 1024, 10)


def build_student():
    return mlp(128, 64, 10)
