import torch
from batches import ImpressionLog
from pipeline import Calibration, TrainPipeline
from ranker import DeepCross
from transforms import ReadyForModel


def main(pipeline_class=TrainPipeline, steps=50, table_size=5000):
    torch.manual_seed(17)
    model = DeepCross(table_size)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    pipeline = pipeline_class(model, optimizer, ReadyForModel(table_size), [Calibration()])
    log = ImpressionLog()
    for _ in range(steps):
        pipeline.progress(log)
    print("last", round(pipeline.loss, 4))


if __name__ == "__main__":
    main()
