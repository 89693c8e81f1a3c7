import torch
from selftrain import Labeller
from train import main


class QuietLabeller(Labeller):
    @torch.no_grad()
    def __call__(self, batches):
        yield from super().__call__(batches)


if __name__ == "__main__":
    main(QuietLabeller)
