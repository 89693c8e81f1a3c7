import torch
from torch import nn
import torch.nn.functional as F

from previews.gallery import Gallery, Strip


class Restorer(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enter = nn.Conv2d(1, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, noisy):
        return noisy - self.leave(F.gelu(self.enter(noisy)))


def main(steps=60):
    torch.manual_seed(220)
    gen = torch.Generator().manual_seed(221)
    net, gallery, strip = Restorer(), Gallery(), Strip()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for number in range(steps):
        clean = torch.rand(8, 1, 1, 1, generator=gen).expand(8, 1, 32, 32)
        restored = net(clean + 0.2 * torch.randn(8, 1, 32, 32, generator=gen))
        loss = F.l1_loss(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        strip.show(gallery.add(number, restored.detach()))
    print(strip.shown, len(gallery))


if __name__ == "__main__":
    main()
