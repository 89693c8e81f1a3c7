"""Keeps the clips that the network gets most wrong, to be shown again."""

from collections import deque

import torch


class HardClips:
    """The most recent hard clips, some of every batch."""

    def __init__(self, per_batch=2, capacity=512):
        self.per_batch = per_batch
        self.pool = deque(maxlen=capacity)

    def offer(self, clips, who, losses):
        for row in losses.topk(self.per_batch).indices.tolist():
            self.pool.append((clips[row], int(who[row])))

    def recall(self, count, gen):
        if len(self.pool) < count:
            return None
        picks = torch.randint(len(self.pool), (count,), generator=gen).tolist()
        clips = torch.stack([self.pool[i][0] for i in picks])
        return clips, torch.tensor([self.pool[i][1] for i in picks])
