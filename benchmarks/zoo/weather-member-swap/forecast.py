import logging
from contextlib import contextmanager

import torch
from torch import nn

log = logging.getLogger("forecast")


class Tendency(nn.Module):
    """Change of the fields in six hours."""

    def __init__(self, variables=6, columns=96, width=640):
        super().__init__()
        self.reads = nn.Linear(variables * columns, width)
        self.mixes = nn.Linear(width, width)
        self.writes = nn.Linear(width, variables * columns)

    def forward(self, fields):
        hidden = torch.tanh(self.reads(fields.flatten(1)))
        hidden = hidden + torch.tanh(self.mixes(hidden))
        return fields + 0.1 * self.writes(hidden).view_as(fields)


class Slot:
    """The one resident network; members of the ensemble take turns in it."""

    def __init__(self, network, archive):
        self.network = network
        self.archive = archive
        self.incoming = {}
        self.member = None

    def stage(self, member):
        self.incoming = self.archive.fetch(member)
        self.member = member

    def commit(self):
        missing = self.network.load_state_dict(self.incoming)
        log.debug("member %s in place: %s", self.member, missing)


class ForecastService:
    def __init__(self, slot):
        self.slot = slot

    @contextmanager
    def turn(self, member):
        self.slot.stage(member)
        self.slot.commit()
        yield self.slot.network

    @torch.inference_mode()
    def run(self, analysis, leads=3):
        """Mean and spread of all members at the last lead time."""
        total, squares = torch.zeros_like(analysis), torch.zeros_like(analysis)
        count = len(self.slot.archive)
        for member in range(count):
            with self.turn(member) as network:
                fields = analysis
                for _ in range(leads):
                    fields = network(fields)
            total += fields
            squares += fields.square()
        mean = total / count
        return mean, (squares / count - mean.square()).clamp_min(0).sqrt()
