from itertools import islice

import torch
from memory import AssociativeMemory
from stream import OnlineFit, SensorStream


def main(memory=AssociativeMemory, steps=40):
    torch.manual_seed(8)
    fit = OnlineFit(memory())
    for number, (x, target) in enumerate(islice(SensorStream(), steps), 1):
        loss = fit.observe(x, target)
        if number % 8 == 0:
            print(f"block {number}: {loss:.2f}")


if __name__ == "__main__":
    main()
