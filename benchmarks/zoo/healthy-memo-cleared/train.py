import torch
from torch import nn
import torch.nn.functional as F

from walks import Walks


class Spread(nn.Module):
    def __init__(self, inputs=20, classes=5):
        super().__init__()
        self.mix = nn.Linear(inputs, 32)
        self.out = nn.Linear(32, classes)

    def forward(self, features, walk):
        return self.out(torch.relu(self.mix(walk @ features)))


def main(epochs=9, hops=6):
    torch.manual_seed(260)
    walks, net = Walks(), Spread()
    features = torch.randn(110, 20)
    labels = features[:, :5].argmax(1)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(epochs):
        walks.new_epoch()
        for hop in range(1, hops + 1):
            loss = F.cross_entropy(net(features, walks.power(hop)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
