import torch
from torch import nn
from torch.nn import functional


class Spotter(nn.Module):
    """A keyword net over flattened mel frames."""

    def __init__(self, width, inputs=320, words=12):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, mel):
        return self.out(self.second(self.first(mel).relu()).relu())


@torch.no_grad()
def narrower(net, width):
    """The `width` units of each hidden layer that matter most."""
    small = Spotter(width, net.first.in_features, net.out.out_features)
    low = net.first.weight.norm(dim=1).topk(width).indices
    high = net.second.weight.norm(dim=1).topk(width).indices
    small.first.weight.copy_(net.first.weight[low])
    small.first.bias.copy_(net.first.bias[low])
    small.second.weight.copy_(net.second.weight[high][:, low])
    small.second.bias.copy_(net.second.bias[high])
    small.out.weight.copy_(net.out.weight[:, high])
    small.out.bias.copy_(net.out.bias)
    return small


def utterances(size=32, inputs=320, words=12, seed=81):
    generator = torch.Generator().manual_seed(seed)
    spoken = torch.randn(words, inputs, generator=generator)
    while True:
        word = torch.randint(words, (size,), generator=generator)
        yield spoken[word] + 2 * torch.randn(size, inputs, generator=generator), word


def step(net, optimizer, mel, word):
    loss = functional.cross_entropy(net(mel), word)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
