"""Predicts the flow in a canal network and keeps an eye on pauses of the interpreter meanwhile."""

import torch

from canal.forecaster import FlowForecaster, Gauges
from canal.pauses import PauseWatch
from canal.training import Training


def main(watch_class=PauseWatch, epochs=6):
    torch.manual_seed(23)
    training = Training(FlowForecaster(), Gauges(), watch_class)
    for epoch in range(epochs):
        print(f"epoch {epoch}: {training.epoch(steps=7)}")


if __name__ == "__main__":
    main()
