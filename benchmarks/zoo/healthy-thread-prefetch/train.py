import torch
from feeder import Feeder
from spectra import Clips
from torch import nn


class PitchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(129, 32, 5, stride=2)
        self.gru = nn.GRU(32, 32, batch_first=True)
        self.out = nn.Linear(32, 6)

    def forward(self, spec):
        h = torch.relu(self.conv(spec)).transpose(1, 2)
        return self.out(self.gru(h)[0][:, -1])


def main(epochs=5):
    torch.manual_seed(3)
    net = PitchNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    feeder = Feeder(Clips())
    for epoch in range(epochs):
        right = seen = 0
        for spec, pitch in feeder:
            scores = net(spec)
            loss = nn.functional.cross_entropy(scores, pitch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((scores.argmax(1) == pitch).sum())
            seen += len(pitch)
        print(epoch, f"{right / seen:.2f}")


if __name__ == "__main__":
    main()
