import torch
from probes import ContentProbe, StyleProbe, gram_of
from torch import nn


def feature_net(widths=(3, 24, 32, 48)):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2)]
    return nn.Sequential(*layers).requires_grad_(False)


class Stylist:
    """Paints one picture after another in one style."""

    def __init__(self, net, painting, content_at=("1", "4"), style_at=("4", "7")):
        self.net = net
        self.content_at = content_at
        self.content = []
        self.style = [StyleProbe(net.get_submodule(name), gram, 50.0) for name, gram in self.grams(painting, style_at)]

    def grams(self, painting, names):
        features = painting
        found = []
        for name, layer in self.net.named_children():
            features = layer(features)
            if name in names:
                found.append((name, gram_of(features)))
        return found

    def start(self):
        self.content = [ContentProbe(self.net.get_submodule(name)) for name in self.content_at]

    def paint(self, photo, rounds=4, lr=0.03):
        self.start()
        canvas = photo.clone().requires_grad_()
        optimizer = torch.optim.Adam([canvas], lr=lr)
        for _ in range(rounds):
            optimizer.zero_grad()
            self.net(canvas)
            loss = sum(probe.take() for probe in (*self.content, *self.style))
            loss.backward()
            optimizer.step()
        return canvas.detach().clamp_(0, 1), loss.item()
