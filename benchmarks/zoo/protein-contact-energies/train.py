import argparse

import torch
from encoder import ProteinEncoder
from task import Fitter, SecondaryStructure


def chains(batch, longest, seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        tokens = torch.randint(1, 24, (batch, longest), generator=g)
        lengths = torch.randint(longest // 2, longest + 1, (batch,), generator=g)
        padding = torch.arange(longest) >= lengths[:, None]
        kinds = (tokens + tokens.roll(1, 1)) % 3
        yield tokens.masked_fill(padding, 0), kinds.masked_fill(padding, -1)


def main(encoder=ProteinEncoder, argv=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--longest", type=int, default=96)
    args = parser.parse_args(argv)

    torch.manual_seed(17)
    fit = Fitter(SecondaryStructure(encoder(longest=args.longest)))
    for step, (tokens, kinds) in enumerate(chains(args.batch, args.longest, 18), 1):
        stats = fit(tokens, kinds)
        if step % 10 == 0:
            print(f"{step:4d} loss {stats['loss']:.4f}")
        if step == args.steps:
            break


if __name__ == "__main__":
    main()
