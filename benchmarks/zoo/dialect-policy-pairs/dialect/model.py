from torch import nn


class DialectModel(nn.Module):
    def __init__(self, vocabulary=1536, width=48):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        hidden, _ = self.mix(self.embedding(tokens))
        return {"logits": self.head(hidden), "last": hidden[:, -1]}
