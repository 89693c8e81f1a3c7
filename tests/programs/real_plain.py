"""Without a framework: a compiled model, and batches from worker processes. Argument: healthy or outputs (kept)."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(kind):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 10))
    model = torch.compile(net, backend="aot_eager")
    optimizer = torch.optim.AdamW(net.parameters())
    data = TensorDataset(torch.randn(96, 32), torch.randint(10, (96,)))
    seen = []
    for _ in range(3):
        for inputs, labels in DataLoader(data, batch_size=8, shuffle=True, num_workers=2):
            outputs = model(inputs)
            loss = nn.functional.cross_entropy(outputs, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if kind == "outputs":
                seen.append(outputs)
    print(len(seen))


if __name__ == "__main__":
    main(sys.argv[1])
