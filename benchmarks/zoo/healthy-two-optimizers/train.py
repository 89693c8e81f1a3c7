import torch
from torch import nn


class GAN:
    def __init__(self):
        self.g = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 256), nn.Tanh())
        self.d = nn.Sequential(nn.Linear(256, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=2e-4)
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=2e-4)
        self.bce = nn.BCEWithLogitsLoss()

    def d_step(self, real):
        with torch.no_grad():
            fake = self.g(torch.randn(len(real), 16))
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        loss = self.bce(self.d(real), ones) + self.bce(self.d(fake), zeros)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def g_step(self, count):
        loss = self.bce(self.d(self.g(torch.randn(count, 16))), torch.ones(count, 1))
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    gan = GAN()
    for step in range(40):
        d_losses = [gan.d_step(torch.rand(32, 256) * 2 - 1) for _ in range(2)]
        g_loss = gan.g_step(32)
        if step % 10 == 0:
            print(step, d_losses, g_loss)


if __name__ == "__main__":
    main()
