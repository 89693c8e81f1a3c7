"""Rectified flow on satellite tile latents, six passes over five pages."""

import torch

from tiles.codec import TileCodec, encode_fn
from tiles.dataset_b import LatentPages, TilePages
from tiles.flow import FlowNet, flow_loss


class FlowTraining:
    def __init__(self, latents):
        self.latents = latents
        self.net = FlowNet()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.gen = torch.Generator().manual_seed(2)

    def epoch(self):
        total = 0.0
        for number in range(len(self.latents)):
            loss = flow_loss(self.net, self.latents[number], self.gen)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.latents)


def build():
    torch.manual_seed(19)
    return FlowTraining(LatentPages(TilePages(), encode_fn(TileCodec(), scale=0.8)))


def main():
    training = build()
    for epoch in range(6):
        print(f"epoch {epoch}: flow mse {training.epoch():.4f}")


if __name__ == "__main__":
    main()
