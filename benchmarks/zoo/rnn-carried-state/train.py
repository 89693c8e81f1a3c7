import torch
from stream import StreamModel
from torch import nn


def text(chunks, batch=8, length=24):
    for _ in range(chunks):
        ids = torch.randint(60, (batch, length + 1))
        yield ids[:, :-1], ids[:, 1:]


def main(model_type=StreamModel, chunks=40):
    torch.manual_seed(0)
    model = model_type()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    state = None
    for number, (ids, following) in enumerate(text(chunks)):
        logits, state = model(ids, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 0:
            dead = (model.usage < 0.01).sum().item()
            print(number, loss.item(), dead)


if __name__ == "__main__":
    main()
