import torch
from model import DeepCross
from pipeline import ClickReader, InputDist, TrainPipeline
from torch.nn import functional


def main(pipeline_class=TrainPipeline):
    torch.manual_seed(8)
    model = DeepCross()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.004)
    pipeline = pipeline_class(model, optimizer, functional.binary_cross_entropy_with_logits, InputDist(500))
    reader = iter(ClickReader())
    losses = [pipeline.progress(reader) for _ in range(40)]
    for start in range(0, 40, 10):
        print(f"{start:3d}-{start + 9:<3d} bce {sum(losses[start : start + 10]) / 10:.4f}")


if __name__ == "__main__":
    main()
