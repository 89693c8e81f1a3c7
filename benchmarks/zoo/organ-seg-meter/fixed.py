"""Trains an organ segmentation net and reports what each step saves for the backward pass."""

import torch

from volseg.meter_b import SavedBytesMeter
from volseg.net import OrganNet, dice_loss
from volseg.scans import ScanSource


class SegmentationRun:
    def __init__(self, meter):
        self.meter = meter
        self.net = OrganNet()
        self.scans = ScanSource(seed=23)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=5e-3)

    def step(self):
        scan, mask = self.scans.draw(2)
        with self.meter.step():
            loss = dice_loss(self.net(scan), mask)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(31)
    run = SegmentationRun(SavedBytesMeter())
    for number in range(1, 25):
        loss = run.step()
        if number % 6 == 0:
            print(f"step {number}: dice loss {loss:.3f}; {run.meter.summary()}")


if __name__ == "__main__":
    main()
