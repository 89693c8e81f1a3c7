"""Tensors that are logged where a handler keeps the records."""

from __future__ import annotations

import pytest

from told import rules

RUN = """
    import logging, logging.handlers
    import torch
    from torch import nn
    log = logging.getLogger(__name__)
    class Keeping(logging.Handler):
        def __init__(self):
            super().__init__()
            self.rows = []
        def emit(self, record):
            {emit}
    def main():
        net = nn.Linear(2, 2)
        {handler}
        for step in range(9):
            with torch.no_grad():
                y = net(torch.randn(2, 2))
            log.{call}
"""
OWN, KEEPS = "log.addHandler(Keeping())", "self.rows.append(record)"
MEMORY = "log.addHandler(logging.handlers.MemoryHandler(100))"


@pytest.mark.parametrize(
    ("handler", "emit", "call", "found"),
    [
        (OWN, KEEPS, "debug('%d %s', step, y)", ["TN202"]),
        (OWN, KEEPS, "log(10, '%s', y)", ["TN202"]),
        (MEMORY, "pass", "info('%s', y)", ["TN202"]),
        (OWN, "self.rows.append(self.format(record))", "debug('%s', y)", []),
        (OWN, "self.rows.append(record); self.rows.clear()", "debug('%s', y)", []),
        (OWN, KEEPS, "debug('%d %s', step, y.mean().item())", []),
        (OWN, KEEPS, "debug(f'{y}')", []),
        ("log.addHandler(logging.StreamHandler())", "pass", "debug('%s', y)", []),
    ],
)
def test_a_tensor_in_a_record_that_is_kept_is_told(handler: str, emit: str, call: str, found: list[str]) -> None:
    assert rules(RUN.format(handler=handler, emit=emit, call=call)) == found
