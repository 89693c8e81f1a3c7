import torch
import torch.nn.functional as F

from grains.counter import DensityNet, Slides
from grains.metrics import LocalCountError


class Counting:
    def __init__(self, metric):
        self.net = DensityNet()
        self.metric = metric
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=5e-3)

    def step(self, slides, wanted):
        density = self.net(slides)
        loss = F.mse_loss(density, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.metric.update(density.detach(), wanted)


def main(metric=LocalCountError, steps=40):
    torch.manual_seed(91)
    slides, counting = Slides(seed=92), Counting(metric())
    for _ in range(steps):
        counting.step(*slides.draw())
    print(f"local count error {counting.metric.compute():.4f}")


if __name__ == "__main__":
    main()
