from torch import nn
from torch.nn import functional


class Composer(nn.Module):
    def __init__(self, entries=256, width=64):
        super().__init__()
        self.embed = nn.Embedding(entries, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, entries)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.head(hidden)


def fit(composer, optimizer, loader, epochs, after_epoch=None):
    for epoch in range(epochs):
        total = 0.0
        for tokens in loader:
            logits = composer(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if after_epoch is not None:
            after_epoch(epoch, loader)
        print(f"epoch {epoch} {total:.3f}")
