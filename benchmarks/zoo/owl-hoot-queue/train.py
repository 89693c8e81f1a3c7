import torch
from contrast import MomentumPair, hoot_encoder, info_nce
from negatives import NegativeStore


def two_microphones(count, batch=64, bins=96, seed=261):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        calls = torch.randn(batch, bins, generator=generator)
        yield tuple(calls + 0.3 * torch.randn(batch, bins, generator=generator) for _ in range(2))


def step(pair, store, optimizer, first, second):
    queries, keys = pair(first, second)
    loss = info_nce(queries, keys, store.pull())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    pair.follow()
    store.push(keys)
    return loss.item()


def main(steps=50):
    torch.manual_seed(260)
    pair = MomentumPair(hoot_encoder())
    store = NegativeStore()
    optimizer = torch.optim.SGD(pair.network.parameters(), lr=0.1, momentum=0.9)
    for number, views in enumerate(two_microphones(steps), 1):
        loss = step(pair, store, optimizer, *views)
        if number % 10 == 0:
            print(f"{number} {loss:.4f}")


if __name__ == "__main__":
    main()
