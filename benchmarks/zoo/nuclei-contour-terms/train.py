import torch
from criterion import NucleiCriterion
from segmenter import SmallUNet, Trainer
from slides import patches


def main(criterion_class=NucleiCriterion, steps=36):
    torch.manual_seed(43)
    Trainer(SmallUNet(), criterion_class()).fit(patches(), steps)


if __name__ == "__main__":
    main()
