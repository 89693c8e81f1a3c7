from itertools import islice

import torch

from timing.fitting import Fitting, hearing
from timing.selection import HarderShare


def main(selection=HarderShare, steps=40):
    torch.manual_seed(61)
    fitting = Fitting(selection())
    taken = [fitting.step(*clip) for clip in islice(hearing(seed=62), steps)]
    print(f"{fitting.passes} backward passes in {len(taken)} steps")


if __name__ == "__main__":
    main()
