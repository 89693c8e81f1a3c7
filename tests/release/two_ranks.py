"""A program on two ranks that talk by gloo; it is given its rank and a port."""

from __future__ import annotations

import socket
import subprocess
import sys


def printed_by_two_ranks(program: str, *, seconds: int = 100) -> list[list[str]]:
    """The lines that each rank prints; its error in their place where it fails."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-W", "ignore", "-c", program]
    ranks = [
        subprocess.Popen([*command, str(rank), port], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    results = [rank.communicate(timeout=seconds) for rank in ranks]
    return [(error if rank.returncode else out).splitlines() for rank, (out, error) in zip(ranks, results, strict=True)]
