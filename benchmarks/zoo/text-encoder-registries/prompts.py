from functools import partial

import torch

BACKENDS = {}


def backend(name):
    def register(make):
        BACKENDS[name] = make
        return make

    return register


@torch.no_grad()
def encode_batch(encoder, ids):
    return encoder(ids)


@backend("gru")
def gru_backend(components):
    return partial(encode_batch, components.text_encoder)


class PromptProcessor:
    """Embeds every prompt once, before training."""

    def __init__(self, components, kind="gru"):
        self.components = components
        self.encode = BACKENDS[kind](components)
        self.embedded = {}

    def prepare(self, prompts):
        for name, ids in prompts.items():
            self.embedded[name] = self.encode(ids)

    def unload(self):
        return self.components.drop("text_encoder")

    def __getitem__(self, name):
        return self.embedded[name]
