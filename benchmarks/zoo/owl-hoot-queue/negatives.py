"""Embeddings of earlier calls, to tell the present ones apart from."""

from collections import deque

import torch


class NegativeStore:
    """The newest batches; older ones fall out at the far end."""

    def __init__(self, batches=10):
        self._batches = deque(maxlen=batches)

    def push(self, embeddings):
        self._batches.append(embeddings)

    def pull(self):
        return torch.cat(tuple(self._batches)) if self._batches else None
