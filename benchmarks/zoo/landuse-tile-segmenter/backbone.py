from torch import nn

STAGES = {}


def stage(name):
    def register(build):
        STAGES[name] = build
        return build

    return register


def block(inputs, outputs, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


@stage("c1")
def stem(width):
    return block(3, width, 2)


@stage("c2")
def low(width):
    return nn.Sequential(nn.MaxPool2d(2), block(width, width, 1))


@stage("c3")
def middle(width):
    return block(width, 2 * width, 2)


@stage("c4")
def high(width):
    return block(2 * width, 3 * width, 2)


class Backbone(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stages = nn.ModuleDict({name: build(width) for name, build in STAGES.items()})
        self.channels = {"c1": width, "c2": width, "c3": 2 * width, "c4": 3 * width}

    def forward(self, x):
        pyramid = {}
        for name, module in self.stages.items():
            x = module(x)
            pyramid[name] = x
        return pyramid
