import torch
from embeds import TextEmbeddingCache
from trainer import Trainer


class OneShotCache(TextEmbeddingCache):
    def compute(self, captions):
        done = super().compute(captions)
        self.encoders = None
        return done


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer(OneShotCache).run()
