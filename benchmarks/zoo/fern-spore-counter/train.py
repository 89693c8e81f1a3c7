import torch
import torch.nn.functional as F

from spores.net import SporeNet
from spores.slides import slides


def main(steps=40):
    torch.manual_seed(18)
    net = SporeNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    total = 0.0
    for picture, count in slides(steps):
        loss = F.l1_loss(net(picture), count)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"mean error {total / steps:.4f}")


if __name__ == "__main__":
    main()
