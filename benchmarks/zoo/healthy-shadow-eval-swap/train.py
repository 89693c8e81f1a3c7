import torch
from shadow import Shadow
from torch import nn


def spectra(batch, generator):
    x = torch.randn(batch, 1, 128, generator=generator)
    return x, (x.abs().mean((1, 2)) * 10).long().clamp(0, 15)


def main(steps=45):
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(2)
    model = nn.Sequential(
        nn.Conv1d(1, 24, 9, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 30, 64), nn.Linear(64, 16)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    shadow = Shadow(model)
    held_out = spectra(64, generator)
    for step in range(steps):
        x, y = spectra(16, generator)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shadow.follow(model)
        if step % 5 == 4:
            with torch.no_grad(), shadow.in_place(model) as averaged:
                score = nn.functional.cross_entropy(averaged(held_out[0]), held_out[1]).item()
            if step % 15 == 14:
                print(step, f"{loss.item():.3f} {score:.3f}")


if __name__ == "__main__":
    main()
