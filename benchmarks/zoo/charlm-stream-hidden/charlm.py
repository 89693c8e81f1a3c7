import torch
import torch.nn.functional as F
from torch import nn


class CharModel(nn.Module):
    def __init__(self, symbols=64, dim=96):
        super().__init__()
        self.dim = dim
        self.embed = nn.Embedding(symbols, dim)
        self.cell = nn.Linear(2 * dim, dim)
        self.decode = nn.Linear(dim, symbols)

    def start(self, batch):
        return torch.zeros(batch, self.dim)

    def forward(self, chars, hidden):
        outputs = []
        for column in self.embed(chars).unbind(1):
            hidden = torch.tanh(self.cell(torch.cat([column, hidden], 1)))
            outputs.append(self.decode(hidden))
        return torch.stack(outputs, 1), hidden


class Text:
    def __init__(self, batch=16, length=200, symbols=64):
        generator = torch.Generator().manual_seed(9)
        steps = torch.randint(1, 4, (batch, length), generator=generator)
        self.chars = steps.cumsum(1) % symbols

    def windows(self, width):
        for start in range(0, self.chars.size(1) - width, width):
            yield self.chars[:, start : start + width], self.chars[:, start + 1 : start + width + 1]


class StreamFitter:
    def __init__(self, model, optimizer, width=6, clip=5.0):
        self.model, self.optimizer = model, optimizer
        self.width, self.clip = width, clip

    def fit_window(self, chars, following, hidden):
        self.optimizer.zero_grad()
        logits, hidden = self.model(chars, hidden)
        loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
        loss.backward(retain_graph=True)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        return loss.item(), hidden

    def fit(self, text):
        hidden = self.model.start(len(text.chars))
        for number, (chars, following) in enumerate(text.windows(self.width)):
            loss, hidden = self.fit_window(chars, following, hidden)
            if number % 8 == 0:
                print(number, f"{loss:.2f}")
