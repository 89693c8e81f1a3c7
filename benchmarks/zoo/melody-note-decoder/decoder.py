from torch import nn
from torch.nn import functional as F


class NoteDecoder(nn.Module):
    def __init__(self, notes, width=48):
        super().__init__()
        self.embed = nn.Embedding(notes, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.vocab = nn.Linear(width, notes)

    def forward(self, notes):
        states, _ = self.rnn(self.embed(notes))
        return self.vocab(states)


def smoothed_nll(log_probs, targets, smoothing=0.1):
    nll = F.nll_loss(log_probs.flatten(0, 1), targets.flatten())
    return (1 - smoothing) * nll - smoothing * log_probs.mean()


def update(model, optimizer, notes, following):
    logits = model(notes)
    log_probs = F.log_softmax(logits, dim=-1)
    loss = smoothed_nll(log_probs, following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
