import torch
from pages import Labeller, Proposer, pages
from torch.nn import functional


def propose(bay, dashboard, steps):
    """Round one; gives back how likely each cell holds something over the whole archive."""
    network = bay.admit("proposer", Proposer())
    meter = dashboard.follow("proposer", network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for batch, filled, _ in pages(steps, seed=1):
        functional.binary_cross_entropy_with_logits(network(batch), filled).backward()
        meter.update(lr=0.05)
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        chances = sum(network(batch).sigmoid().mean(0) for batch, _, _ in pages(4, seed=9)) / 4
    bay.put_away("proposer")
    return chances


def label(bay, dashboard, steps, chances):
    network = bay.admit("labeller", Labeller())
    meter = dashboard.follow("labeller", network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for step, (batch, _, kinds) in enumerate(pages(steps, seed=2)):
        losses = functional.cross_entropy(network(batch), kinds, reduction="none")
        loss = (losses * chances).mean()
        loss.backward()
        meter.update(lr=0.05)
        optimizer.step()
        optimizer.zero_grad()
        if step % 8 == 0:
            print(f"{step:2d} {loss.item():.4f}")
