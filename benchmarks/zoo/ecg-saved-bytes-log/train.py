"""ECG rhythm classifier, with a log of what is saved for backward and of the scale of layer inputs."""

import torch
import torch.nn.functional as F

from ecg.net import Recordings, RhythmNet
from ecg.observe import InputScales, SavedLedger


class RhythmTraining:
    def __init__(self):
        self.net = RhythmNet()
        self.recordings = Recordings(seed=18)
        self.ledger = SavedLedger()
        self.scales = InputScales(self.net, ["mid", "deep"])
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=2e-3)

    def step(self):
        signal, rhythm = self.recordings.draw(32)
        with self.ledger:
            loss = F.cross_entropy(self.net(signal), rhythm)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, steps):
        for step in range(1, steps + 1):
            loss = self.step()
            if step % 8 == 0:
                print(f"step {step}: loss {loss:.3f}; {self.ledger.summary()}; {self.scales.table()}")
        self.scales.close()


def main():
    torch.manual_seed(9)
    RhythmTraining().run(32)


if __name__ == "__main__":
    main()
