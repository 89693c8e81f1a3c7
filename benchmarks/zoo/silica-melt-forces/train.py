import torch
from matching import ForceMatcher, Frame
from potential import PairPotential


def lattice(side=6, box=6.0):
    ticks = torch.arange(side) * (box / side)
    return torch.cartesian_prod(ticks, ticks, ticks)


def neighbours(sites, box=6.0, cutoff=1.2):
    """Pairs that may come near one another, each once."""
    offset = sites[:, None] - sites
    offset = offset - box * torch.round(offset / box)
    return torch.nonzero((offset.norm(dim=-1) < cutoff).triu(1), as_tuple=True)


def trajectory(sites, first, second, boxes=16, steps=44, box=6.0):
    """Displaced atoms with the energies and forces of springs between neighbours."""
    generator = torch.Generator().manual_seed(61)
    for _ in range(steps):
        positions = sites + 0.12 * torch.randn(boxes, *sites.shape, generator=generator)
        offset = positions[:, first] - positions[:, second]
        offset = offset - box * torch.round(offset / box)
        length = offset.norm(dim=-1, keepdim=True)
        pull = (length - 1.1) * offset / length
        forces = torch.zeros_like(positions).index_add_(1, first, -pull).index_add_(1, second, pull)
        yield Frame(positions, 0.5 * (length - 1.1).square().sum((1, 2)), forces)


def main(matcher=ForceMatcher):
    torch.manual_seed(60)
    sites = lattice()
    first, second = neighbours(sites)
    fitting = matcher(PairPotential(), first, second)
    for number, frame in enumerate(trajectory(sites, first, second)):
        loss, error = fitting.step(frame)
        if number % 11 == 0:
            print(f"frame {number:2d} loss {loss:10.3f} mean force error {error:.4f}")


if __name__ == "__main__":
    main()
