import torch
from census import Census
from fields import CropMapper, Region


def main(census_class=Census):
    torch.manual_seed(48)
    census_class(CropMapper()).take(Region())


if __name__ == "__main__":
    main()
