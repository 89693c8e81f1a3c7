import torch
from sweep import Sweep


def main(sweep, trials=40):
    torch.manual_seed(0)
    sweep.run(10 ** (-4 + 3 * number / trials) for number in range(trials))
    print(sweep.finished, "finished;", len(sweep.failures), "failed, last:", sweep.failures[-1])


if __name__ == "__main__":
    main(Sweep())
