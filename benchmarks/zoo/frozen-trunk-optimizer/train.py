import torch
from images import batches, leaves, trunk
from torch import nn
from tuning import TwoStageTuning


def main(tuning_class=TwoStageTuning):
    torch.manual_seed(56)
    tuning = tuning_class(trunk(), nn.Linear(64, 8))
    images, kinds = leaves()
    for batch in batches(images, kinds, 8):
        loss = tuning.step(*batch)
    print("whole net", f"{loss:.4f}")

    features = tuning.freeze(images)
    for number, batch in enumerate(batches(features, kinds, 40, seed=1)):
        loss = tuning.step(*batch)
        if number % 10 == 9:
            print("head", number + 1, f"{loss:.4f}")


if __name__ == "__main__":
    main()
