import torch
from framework import Loop
from shrinkage import Shrinkage, pots


def main():
    torch.manual_seed(280)
    Loop(epochs=5).fit(Shrinkage(), pots())


if __name__ == "__main__":
    main()
