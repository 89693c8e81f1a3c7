import logging

import torch

logger = logging.getLogger("service")


class Unsure(ValueError):
    pass


class Service:
    def __init__(self, tagger, threshold=0.5):
        self.tagger, self.threshold = tagger, threshold

    @torch.inference_mode()
    def tag(self, pages):
        scores = self.tagger(pages).softmax(-1)
        best, kinds = scores.max(-1)
        return self.checked(best.mean(1), kinds)

    def checked(self, sureness, kinds):
        if sureness.min() < self.threshold:
            raise Unsure(f"page {int(sureness.argmin())} is {sureness.min():.2f} sure")
        return kinds.mode(1).values.tolist()

    def handle(self, request, pages):
        try:
            return {"id": request, "kinds": self.tag(pages)}
        except Unsure as error:
            logger.warning("request %d set aside", request, exc_info=True)
            return {"id": request, "error": str(error)}
