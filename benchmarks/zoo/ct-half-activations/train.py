import argparse

import torch
from offload import HalfStore
from scans import scans
from torch.nn import functional
from unet3d import SmallUNet


def parse(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=44)
    return parser.parse_args(arguments)


def dice(logits, organ):
    guess = logits.argmax(1)
    return 2 * (guess & organ).sum() / (guess.sum() + organ.sum()).clamp_min(1)


def main(store_type=HalfStore):
    options = parse()
    torch.manual_seed(options.seed)
    net = SmallUNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=options.lr)
    store = store_type()
    for step, (volume, organ) in enumerate(scans(seed=options.seed), 1):
        with store.engaged():
            logits = net(volume)
            loss = functional.cross_entropy(logits, organ)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 9 == 0:
            print(step, f"loss {loss.item():.4f} dice {dice(logits, organ).item():.3f} packed {store.put_in >> 20} MiB")
        del logits, loss
        if step == options.steps:
            break


if __name__ == "__main__":
    main()
