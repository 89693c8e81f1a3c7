from torch import nn


def enhancer_net(probe, width=32):
    def block(name, inside, outside, kernel):
        layer = probe.wrap(name, nn.Conv1d(inside, outside, kernel, padding=kernel // 2))
        return [layer, nn.ReLU()]

    return nn.Sequential(
        *block("motifs", 4, width, 15),
        *block("pairs", width, width, 7),
        nn.MaxPool1d(2),
        *block("grammar", width, 2 * width, 5),
        nn.AdaptiveAvgPool1d(4),
        nn.Flatten(),
        nn.Linear(8 * width, 64),
        nn.ReLU(),
        nn.Linear(64, 1),
    )
