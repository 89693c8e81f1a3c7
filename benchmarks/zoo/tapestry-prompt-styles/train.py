import zlib

import torch
from conditioning import Conditioner, TextEncoder
from prompts import catalogue
from weave import Loom, PatternDecoder


def pattern(prompt, threads=16, colours=24):
    """Every description has its own pattern."""
    generator = torch.Generator().manual_seed(zlib.crc32(prompt.encode()))
    row = torch.randint(colours, (threads,), generator=generator)
    return (row + row[:, None]) % colours


def main(conditioner=Conditioner, batch=5):
    torch.manual_seed(170)
    loom = Loom(conditioner(TextEncoder()), PatternDecoder())
    prompts = catalogue()
    for start in range(0, len(prompts), batch):
        chosen = prompts[start : start + batch]
        loss = loom.train_on(chosen, torch.stack([pattern(prompt) for prompt in chosen]))
        if start % 40 == 0:
            print(f"{start:3d} {chosen[0]:32} {loss:.4f}")


if __name__ == "__main__":
    main()
