import asyncio
from dataclasses import dataclass, field

import torch


@dataclass
class Request:
    tokens: torch.Tensor
    answer: asyncio.Future = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass
class Reply:
    words: torch.Tensor
    confidence: torch.Tensor

    @property
    def sure(self):
        return float(self.confidence.mean())


class TranslationService:
    def __init__(self, model):
        self.model = model.eval()
        self.queue = asyncio.Queue(maxsize=4)

    async def serve(self):
        while True:
            request = await self.queue.get()
            request.answer.set_result(self.answer(request.tokens))
            del request
            self.queue.task_done()

    def answer(self, tokens):
        best = self.model(tokens).log_softmax(-1).max(-1)
        return Reply(best.indices, best.values)

    async def translate(self, tokens):
        request = Request(tokens)
        await self.queue.put(request)
        return await request.answer
