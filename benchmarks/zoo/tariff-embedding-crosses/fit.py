import torch
from net import cross


def fit_batch(net, optimizer, codes, dense, claims):
    crossed = cross(dense)
    rate = net(codes, crossed)
    loss = torch.nn.functional.poisson_nll_loss(rate, claims)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return float(loss.detach())


@torch.no_grad()
def deviance(net, policies, size=2048):
    total = 0.0
    for start in range(0, 2 * size, size):
        rows = slice(start, start + size)
        rate = net(policies.codes[rows], cross(policies.dense[rows])).exp()
        total += float((rate - policies.claims[rows]).abs().sum())
    return total / (2 * size)
