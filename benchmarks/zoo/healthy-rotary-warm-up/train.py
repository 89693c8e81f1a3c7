import torch
from rotary import RotaryTable
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention


class Tagger(nn.Module):
    def __init__(self, vocab=150, dim=64, tags=9):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rotary = RotaryTable(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.tags = nn.Linear(dim, tags)

    def forward(self, words):
        x = self.embed(words)
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.tags(x + scaled_dot_product_attention(self.rotary(q), self.rotary(k), v))


def documents(count, longest=250, batch=4):
    generator = torch.Generator().manual_seed(109)
    for _ in range(count):
        length = int(torch.randint(33, longest, (), generator=generator))
        words = torch.randint(150, (batch, length), generator=generator)
        yield words, words % 9


def train_step(model, optimizer, words, tags):
    loss = cross_entropy(model(words).flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(110)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for number, (words, tags) in enumerate(documents(60)):
        loss = train_step(model, optimizer, words, tags)
        if number % 12 == 0:
            print(number, tuple(words.shape), len(model.rotary.tables), f"{loss:.3f}")


if __name__ == "__main__":
    main()
