import torch
from genome import Regions
from net import enhancer_net
from probe import RelevanceProbe
from torch.nn import functional


class EnhancerTraining:
    def __init__(self, probe, regions):
        self.probe, self.regions = probe, regions
        self.net = enhancer_net(probe)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)

    def step(self):
        sequences, labels = self.regions.draw()
        loss = functional.binary_cross_entropy_with_logits(self.net(sequences).squeeze(1), labels)
        self.probe.collect(labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(probe_class=RelevanceProbe, steps=50):
    torch.manual_seed(70)
    regions = Regions()
    training = EnhancerTraining(probe_class(regions.length), regions)
    for step in range(steps):
        loss = training.step()
        if step % 10 == 9:
            place, height = training.probe.summit()
            print(f"{step + 1:3d} loss {loss:.4f} summit at {place} ({height:.5f})")


if __name__ == "__main__":
    main()
