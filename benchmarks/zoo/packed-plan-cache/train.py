import random

import torch
from model import PackedLanguageModel, next_token_loss
from plans import Packer


class Samples:
    def __init__(self, seed=31):
        self.random = random.Random(seed)

    def pack(self, room=320, longest=100):
        sequences = []
        while room > 0:
            length = min(self.random.randint(20, longest), room)
            start = self.random.randrange(90)
            sequences.append((torch.arange(length) * 3 + start) % 90)
            room -= length
        return sequences


def main(packer=Packer, steps=40):
    torch.manual_seed(7)
    model, samples = PackedLanguageModel(packer), Samples()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(steps):
        loss = next_token_loss(model, samples.pack())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print("step", step, f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
