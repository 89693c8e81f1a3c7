import torch

from trials import Trial, grid


def table(rows=96, seed=33):
    gen = torch.Generator().manual_seed(seed)
    data = torch.randn(rows, 28, generator=gen)
    return data, torch.sin(data[:, :4].sum(1))


def main(trial_class=Trial):
    torch.manual_seed(34)
    rows, wanted = table()
    losses = {}
    for setting in grid():
        losses[setting.name] = trial_class(setting).run(rows, wanted, steps=4)
    best = min(losses, key=losses.get)
    print(f"{len(losses)} trials, best {best} at {losses[best]:.4f}")


if __name__ == "__main__":
    main()
