import torch
from metrics import AveragePrecision, MetricSet
from segment import Segmentation, build, tiles


def after_epoch(number, means, metrics):
    print(number, {name: round(value, 4) for name, value in means.items()})


def main(after_epoch=after_epoch):
    torch.manual_seed(74)
    metrics = MetricSet(ap=AveragePrecision())
    segmentation = Segmentation(build(), metrics)
    for number in range(10):
        after_epoch(number, segmentation.epoch(tiles(5)), metrics)
    print(f"built up: {segmentation.share(*next(tiles(1, seed=75))):.3f}")


if __name__ == "__main__":
    main()
