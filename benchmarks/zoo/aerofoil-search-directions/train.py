import torch
from aerofoils import LiftSurrogate, tunnel
from subspace import SubspaceDescent


def make_closure(model, optimizer, sections, angle, coefficients):
    def closure():
        optimizer.zero_grad()
        loss = (model(sections, angle) - coefficients).square().mean()
        loss.backward()
        return loss.detach()

    return closure


def main(descent=SubspaceDescent, runs=54):
    torch.manual_seed(150)
    model = LiftSurrogate()
    optimizer = descent(model.parameters())
    for run, measured in enumerate(tunnel(runs)):
        loss = optimizer.step(make_closure(model, optimizer, *measured))
        if run % 9 == 0:
            print(f"run {run:2d} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
