import itertools
from functools import partial

import torch
from meters import ConfusionMeter, Tracked
from rails import FAULTS, RailNet, Section, fit


def main(meter_class=ConfusionMeter, steps=50):
    torch.manual_seed(140)
    network = RailNet()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    new_meter = partial(meter_class, "training", classes=FAULTS)
    smooth = None
    for signal, codes in itertools.islice(Section(142), steps):
        meter = new_meter()
        loss = fit(network, optimizer, signal, codes, meter)
        smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss
    print(f"smoothed loss {smooth:.4f}")
    print(Tracked.table())


if __name__ == "__main__":
    main()
