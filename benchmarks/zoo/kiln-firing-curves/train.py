from collections import namedtuple

import torch
from kiln import FiringModel, evenness, firings

Report = namedtuple("Report", "loss uneven")


def fire(model, optimizer, curve, gloss):
    loss = (model(curve) - gloss).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return Report(loss.detach(), evenness(model, curve))


def main(steps=45):
    torch.manual_seed(310)
    model = FiringModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    best = None
    for number, (curve, gloss) in enumerate(firings(steps)):
        report = fire(model, optimizer, curve, gloss)
        if best is None or report.loss < best.loss:
            best = report
        if number % 9 == 0:
            print(f"firing {number:2d} loss {report.loss:.5f} best {best.loss:.5f} unevenness {report.uneven:.2e}")


if __name__ == "__main__":
    main()
