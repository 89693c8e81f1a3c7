"""Fits a spread model on streams of bond quotes."""

import torch

from desk.market import quotes
from desk.pipeline import QuotePipeline
from desk.spread import SpreadModel


def main(pipeline_class=QuotePipeline, steps=40):
    torch.manual_seed(31)
    model = SpreadModel()
    pipeline = pipeline_class(model, torch.optim.AdamW(model.parameters(), lr=1e-3))
    feed = quotes(steps)
    done = 0
    while (loss := pipeline.progress(feed)) is not None:
        done += 1
        if done % 10 == 0:
            print(f"batch {done}: pinball {loss:.4f}")


if __name__ == "__main__":
    main()
