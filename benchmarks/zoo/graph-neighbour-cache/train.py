import torch
import torch.nn.functional as F

from graphs.net import GraphNet
from graphs.subgraph import Sampler


def main(steps=40):
    torch.manual_seed(81)
    sampler, net = Sampler(), GraphNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for number in range(1, steps + 1):
        graph = sampler.draw()
        loss = F.cross_entropy(net(graph), graph.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 0:
            print(f"{number}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
