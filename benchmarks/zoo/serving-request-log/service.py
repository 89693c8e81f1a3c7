import time

import torch
from torch import nn


def make_handler(model, slow_after=0.5):
    served = []

    def handle(request):
        started = time.perf_counter()
        with torch.inference_mode():
            scores = model(request["audio"])
        served.append((request["id"], time.perf_counter() - started, scores))
        if served[-1][1] > slow_after:
            print("slow request", request["id"])
        return {"id": request["id"], "label": int(scores.mean(0).argmax())}

    return handle


class Keyword(nn.Module):
    def __init__(self):
        super().__init__()
        self.frames = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 35))

    def forward(self, audio):
        return self.frames(audio).log_softmax(-1)
