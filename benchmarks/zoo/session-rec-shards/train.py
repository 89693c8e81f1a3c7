"""Trains a next-item recommender on thumbnail sessions, shard by shard."""

import torch
import torch.nn.functional as F

from sessions.model import NextItem, ThumbCodec
from sessions.shards import ShardReader, ShardSpec


class SessionTrainer:
    def __init__(self, spec):
        self.codec = ThumbCodec(3 * spec.thumb * spec.thumb)
        self.model = NextItem(items=spec.items)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def learn(self, codes, opened):
        loss = F.cross_entropy(self.model(codes), opened)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, reader):
        feed = reader.frames()
        done = 0
        while (frame := next(feed, None)) is not None:
            codes, opened = self.codec.encode(frame.snapshots), frame.opened
            del frame
            loss = self.learn(codes, opened)
            done += 1
            if done % 6 == 0:
                print(f"shard {done}: loss {loss:.3f}, {reader.bytes_read / 2**20:.0f} MiB read")


def main():
    torch.manual_seed(42)
    spec = ShardSpec()
    SessionTrainer(spec).run(ShardReader(spec, range(18)))


if __name__ == "__main__":
    main()
