import torch
from layers import GraphNet
from sparse import Graph
from torch import nn


def sampled_graphs(count, nodes=400, edges=2000):
    generator = torch.Generator().manual_seed(30)
    for _ in range(count):
        sources, targets = torch.randint(nodes, (2, edges), generator=generator)
        x = torch.randn(nodes, 32, generator=generator)
        yield Graph(sources, targets, nodes), x, x[:, :4].argmax(1)


def main():
    torch.manual_seed(30)
    net = GraphNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    for step, (graph, x, labels) in enumerate(sampled_graphs(40)):
        loss = nn.functional.cross_entropy(net(graph, x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
