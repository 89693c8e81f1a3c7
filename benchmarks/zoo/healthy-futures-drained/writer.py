"""Writes embeddings to an index on a thread of its own, a few batches behind."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

import torch


class IndexWriter:
    def __init__(self, behind: int = 4) -> None:
        self.behind = behind
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self.waiting: deque[Future] = deque()
        self.rows = 0
        self.checksum = 0

    def submit(self, rows: torch.Tensor) -> None:
        while len(self.waiting) >= self.behind:
            self.settle()
        self.waiting.append(self.pool.submit(self.pack, rows))

    @staticmethod
    def pack(rows: torch.Tensor) -> tuple[torch.Tensor, int]:
        return rows, sum(bytes(memoryview(rows.numpy()).cast("B")[:256]))

    def settle(self) -> None:
        rows, checksum = self.waiting.popleft().result()
        self.rows += len(rows)
        self.checksum ^= checksum

    def close(self) -> None:
        while self.waiting:
            self.settle()
        self.pool.shutdown()
