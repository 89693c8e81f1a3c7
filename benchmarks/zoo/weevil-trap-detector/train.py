import torch

from traps.net import TrapNet
from traps.pictures import TrapPictures
from traps.smooth import SlopePenalty


class Training:
    def __init__(self, penalty):
        self.net = TrapNet()
        self.penalty = penalty
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)

    def step(self, traps, weevils):
        self.optimizer.zero_grad()
        loss = self.penalty.apply(self.net, traps, weevils)
        self.optimizer.step()
        return loss


def main(penalty=SlopePenalty, steps=40):
    torch.manual_seed(3)
    pictures, training = TrapPictures(seed=4), Training(penalty(weight=0.3))
    losses = [training.step(*pictures.draw()) for _ in range(steps)]
    print(f"{losses[0]:.4f} -> {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
