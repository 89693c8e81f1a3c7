from itertools import count

import torch
from molnet import MolNet, molecules
from smoothing import Report, Smoothness
from torch.nn import functional


def fit(model, data, report, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step, (atoms, bonds, energy) in zip(range(1, steps + 1), data):
        optimizer.zero_grad()
        result = model(atoms, bonds)
        loss = functional.smooth_l1_loss(result.energy, energy)
        loss.backward()
        optimizer.step()
        report(step=step, result=result, loss=loss.item())


def main(smoothness=Smoothness):
    torch.manual_seed(41)
    ticks = count(1)
    fit(MolNet(), molecules(), Report(smoothness(), lambda **told: next(ticks)), 50)
    print("steps", next(ticks) - 1)


if __name__ == "__main__":
    main()
