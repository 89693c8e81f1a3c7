import torch
from pests import Fields
from torch import nn
from torch.nn import functional
from watching import Eraser, Watched


class PestNet(nn.Module):
    def __init__(self, kinds=5):
        super().__init__()
        self.low = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.high = Watched(nn.Conv2d(12, 24, 3, padding=1))
        self.sort = nn.Linear(24, kinds)

    def forward(self, pictures):
        return self.sort(self.high(self.low(pictures)).relu().mean((2, 3)))


class ErasingTrainer:
    """Twice with each batch: as it is, and with what was looked at covered."""

    def __init__(self, net, eraser, fields):
        self.net, self.eraser, self.fields = net, eraser, fields
        self.optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

    def descend(self, pictures, kinds):
        loss = functional.cross_entropy(self.net(pictures), kinds)
        self.optimizer.zero_grad()
        loss.backward()
        cam = self.net.high.cam(pictures.shape[2:])
        self.optimizer.step()
        return loss.item(), cam

    def step(self):
        pictures, kinds = self.fields.draw()
        plain, cam = self.descend(pictures, kinds)
        pictures = self.eraser(pictures, cam)
        del cam
        covered, cam = self.descend(pictures, kinds)
        return plain, covered


def main(batches=30):
    torch.manual_seed(20)
    trainer = ErasingTrainer(PestNet(), Eraser(), Fields())
    for number in range(batches):
        plain, covered = trainer.step()
        if number % 6 == 5:
            print(f"{number + 1:2d} plain {plain:.4f} covered {covered:.4f} ({trainer.eraser.covered:.3f} of it)")


if __name__ == "__main__":
    main()
