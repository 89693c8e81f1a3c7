import torch
from curvature import SharpnessProbe
from petals import PetalNet, batches
from torch import nn


def main(probe=SharpnessProbe, epochs=9, per_epoch=12):
    torch.manual_seed(6)
    net = PetalNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    sharpness = probe(criterion)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches(per_epoch, 192, epoch)):
            loss = criterion(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if i % 3 == 2:
                sharpness(net, x, y)
        print(f"epoch {epoch} loss {loss.item():.3f} trace {sharpness.values[-1]:.2f}")


if __name__ == "__main__":
    main()
