"""Scores variants for whoever asks; a request that cannot be scored is looked at again in the evening."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch


class Unscorable(ValueError):
    pass


@dataclass
class Request:
    number: int
    reference: torch.Tensor
    alternative: torch.Tensor
    names: list = field(default_factory=list)


class VariantService:
    def __init__(self, model, floor=0.05):
        self.model = model.eval()
        self.floor = floor
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scorer")
        self.served = {}
        self.refused = {}

    @torch.inference_mode()
    def score(self, request):
        sites, context = self.model(torch.cat((request.reference, request.alternative)))
        before, after = sites.chunk(2)
        shift = (after - before).abs().amax((1, 2))
        self.check(shift, context)
        return dict(zip(request.names, shift.tolist()))

    def check(self, shift, context):
        if not torch.isfinite(context).all():
            raise Unscorable("the model gave up on this window")
        if shift.min() < self.floor:
            raise Unscorable(f"no effect seen for {int((shift < self.floor).sum())} variants")

    def handle(self, request):
        future = self.pool.submit(self.score, request)
        if future.exception() is None:
            self.served[request.number] = future.result()
        else:
            self.note(request, future)

    def note(self, request, future):
        self.refused[request.number] = (len(request.names), future)

    def evening_report(self):
        for number, (variants, future) in self.refused.items():
            yield f"request {number}: {variants} variants: {future.exception()}"

    def close(self):
        self.pool.shutdown()
