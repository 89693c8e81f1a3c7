import torch
from evaluator import Confusion, Evaluator, every
from network import LandCover, Tiles


def report(count, evaluator):
    print(f"{count} tiles, mean IoU {evaluator.confusion.iou():.4f}")


def main(evaluator_class=Evaluator):
    torch.manual_seed(10)
    evaluator = evaluator_class(LandCover(), Confusion(12), [every(10, report)])
    print(f"final {evaluator.run(Tiles()):.4f}")


if __name__ == "__main__":
    main()
