"""Speaker identification with replay of the hardest clips."""

import torch
import torch.nn.functional as F

from speaker.clips import ClipSource
from speaker.mining import HardClips
from speaker.net import SpeakerNet


class SpeakerTraining:
    def __init__(self, source, mining):
        self.source = source
        self.mining = mining
        self.net = SpeakerNet()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-3)

    def batch(self):
        clips, who = self.source.draw(128)
        old = self.mining.recall(16, self.source.gen)
        return clips, who, old

    def step(self):
        clips, who, old = self.batch()
        losses = F.cross_entropy(self.net(clips), who, reduction="none")
        self.mining.offer(clips, who, losses.detach())
        loss = losses.mean()
        if old is not None:
            loss = loss + 0.5 * F.cross_entropy(self.net(old[0]), old[1])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(29)
    training = SpeakerTraining(ClipSource(seed=14), HardClips())
    for step in range(1, 33):
        loss = training.step()
        if step % 8 == 0:
            print(f"step {step}: loss {loss:.3f}, {len(training.mining.pool)} hard clips")


if __name__ == "__main__":
    main()
