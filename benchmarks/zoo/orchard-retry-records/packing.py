"""Pad tree scans of unequal length into one block, within a budget of points."""

import torch


class BudgetExceeded(RuntimeError):
    def __init__(self, wanted, budget):
        super().__init__(f"{wanted} points wanted, {budget} allowed")
        self.wanted = wanted


def pack(scans, budget):
    longest = max(len(scan) for scan in scans)
    block = torch.zeros(len(scans), longest, scans[0].shape[1])
    mask = torch.zeros(len(scans), longest, dtype=torch.bool)
    for row, scan in enumerate(scans):
        block[row, : len(scan)] = scan
        mask[row, : len(scan)] = True
    check(int(mask.sum()), budget)
    return block, mask


def check(points, budget):
    if points > budget:
        raise BudgetExceeded(points, budget)
