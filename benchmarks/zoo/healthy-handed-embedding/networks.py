from torch import nn
from torch.nn import functional


class Counsel(nn.Module):
    """The big one: a word table and wide layers above it."""

    def __init__(self, words=6000, width=64, inner=512, kinds=6):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.rise = nn.Linear(width, inner)
        self.layers = nn.ModuleList(nn.Linear(inner, inner) for _ in range(2))
        self.head = nn.Linear(inner, kinds)

    def forward(self, tokens):
        hidden = functional.relu(self.rise(self.table(tokens).mean(1)))
        for layer in self.layers:
            hidden = hidden + functional.relu(layer(hidden))
        return self.head(hidden)


class Clerk(nn.Module):
    """The small one, reading with a table it was handed."""

    def __init__(self, table, inner=48, kinds=6):
        super().__init__()
        self.table = table
        self.read = nn.GRU(table.embedding_dim, inner, batch_first=True)
        self.head = nn.Linear(inner, kinds)

    def forward(self, tokens):
        return self.head(self.read(self.table(tokens))[0].mean(1))
