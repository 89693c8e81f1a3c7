"""A tune generator whose judge is asked every fourth step."""

import torch

from tunes.parts import Judge, TuneGenerator
from tunes.session import Session


def main(steps=40):
    torch.manual_seed(58)
    session = Session(TuneGenerator(), Judge().requires_grad_(False), every=4)
    for step in range(steps):
        loss = session.step(step)
        if step % 10 == 9:
            print(f"step {step} loss {loss:.4f} verdicts {session.verdicts[-2:]}")


if __name__ == "__main__":
    main()
