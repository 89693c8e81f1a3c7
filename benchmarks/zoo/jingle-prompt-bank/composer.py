import torch
from torch import nn
from torch.nn import functional


class Composer(nn.Module):
    """Next note of a jingle, given the notes before and the prompt's vector."""

    def __init__(self, notes=64, width=96, prompt=224):
        super().__init__()
        self.notes = nn.Embedding(notes, width)
        self.start = nn.Linear(prompt, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, notes)

    def forward(self, melody, prompt):
        hidden, _ = self.rnn(self.notes(melody), self.start(prompt)[None].tanh())
        return self.out(hidden)


class Lessons:
    def __init__(self, composer, bank, melodies):
        self.composer, self.bank, self.melodies = composer, bank, melodies
        self.optimizer = torch.optim.AdamW(composer.parameters(), lr=3e-3)

    def numbers(self, size, steps):
        for _ in range(steps):
            yield torch.randint(len(self.bank), (size,))

    def run(self, steps=64, size=24):
        for step, numbers in enumerate(self.numbers(size, steps)):
            melody = self.melodies[numbers]
            logits = self.composer(melody[:, :-1], self.bank[numbers])
            loss = functional.cross_entropy(logits.flatten(0, 1), melody[:, 1:].flatten())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 16 == 15:
                print(step + 1, f"{loss.item():.4f}")
