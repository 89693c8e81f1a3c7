from torch import nn


class Writer(nn.Module):
    def __init__(self, vocab=1500, width=40):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        return self.lm_head(self.rnn(self.embed(ids))[0])
