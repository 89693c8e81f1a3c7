from functools import partial

import torch
from text import encode


class PromptMixer:
    """Prompts that are a weighted sum of others ("red:0.7 sunset:0.3")."""

    def __init__(self, conditioner):
        self.embed = partial(encode, conditioner.tower)
        self.mixed = {}

    def add(self, name, parts):
        vectors = [weight * self.embed(ids[None])[0] for ids, weight in parts]
        self.mixed[name] = torch.stack(vectors).sum(0)

    def close(self):
        print("mixed prompts:", len(self.mixed))

    def __getitem__(self, name):
        return self.mixed[name]
