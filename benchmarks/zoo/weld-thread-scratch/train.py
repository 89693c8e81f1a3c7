import torch
from imaging import sinogram
from pool import SinogramBatches
from torch import nn


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, (3, 7), stride=(2, 4)), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(144, 2),
    )


def main(make=sinogram, epochs=4, batches=6):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    data = SinogramBatches(make)
    for epoch in range(epochs):
        right = 0
        for x, y in data.epoch(batches, epoch * 100):
            scores = net(x / 50)
            loss = nn.functional.cross_entropy(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((scores.argmax(1) == y).sum())
        print(f"epoch {epoch}: {right}/{batches * data.batch}")
    data.close()


if __name__ == "__main__":
    main()
