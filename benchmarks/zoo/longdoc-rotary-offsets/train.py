import torch
from reader import WindowReader, windows
from rotary import RotaryTable
from torch.nn import functional as F


def main(table=RotaryTable):
    torch.manual_seed(0)
    model = WindowReader(table=table)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    document = (torch.arange(6000) * 7 % 61).repeat(2, 1)
    for number, (offset, tokens, following) in enumerate(windows(document, size=192, stride=128), 1):
        loss = F.cross_entropy(model(tokens, offset).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 9 == 0:
            print(f"window {number} at {offset}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
