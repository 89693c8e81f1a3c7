import io

import torch
from checkpoints import Checkpoints
from torch import nn


def build():
    model = nn.Sequential(nn.Embedding(256, 40), nn.Flatten(), nn.Linear(40 * 12, 160), nn.ReLU(), nn.Linear(160, 256))
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def step(model, optimizer, generator):
    codes = torch.randint(256, (32, 13), generator=generator)
    loss = nn.functional.cross_entropy(model(codes[:, :12]), codes[:, 12])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=45):
    torch.manual_seed(14)
    generator = torch.Generator().manual_seed(14)
    checkpoints = Checkpoints()
    model, optimizer = build()
    step(model, optimizer, generator)
    buffer = io.BytesIO()
    torch.save(checkpoints.state(model, optimizer, 1), buffer)
    buffer.seek(0)

    model, optimizer = build()
    start = checkpoints.resume(model, optimizer, buffer)
    for number in range(start, steps):
        loss = step(model, optimizer, generator)
        checkpoints.after_step(number, model, optimizer)
        if number % 10 == 0:
            print(number, f"{loss:.4f}", checkpoints.written[-1])


if __name__ == "__main__":
    main()
