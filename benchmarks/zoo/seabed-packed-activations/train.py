import torch
from depthnet import DepthFitting
from packing import BytePacker
from survey import Survey


def main(packer_class=BytePacker, steps=50):
    torch.manual_seed(92)
    DepthFitting(packer_class()).fit(Survey(steps))


if __name__ == "__main__":
    main()
