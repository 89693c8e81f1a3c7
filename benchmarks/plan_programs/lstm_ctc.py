"""Speech recognizer: two-way LSTM over frames of many lengths, CTC loss."""

import random

import torch
from torch import nn

torch.manual_seed(0)
draw = random.Random(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Recognizer(nn.Module):
    def __init__(self, bands=80, width=256, letters=32):
        super().__init__()
        self.norm = nn.LayerNorm(bands)
        self.lstm = nn.LSTM(bands, width, num_layers=2, bidirectional=True, dropout=0.2)
        self.head = nn.Linear(2 * width, letters)

    def forward(self, frames, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.norm(frames), lengths, enforce_sorted=False)
        x, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0])
        return self.head(x).log_softmax(-1)


def make_batch(size=32, longest=140):
    lengths = torch.tensor([longest, *(draw.randint(longest // 2, longest) for _ in range(size - 1))])
    frames = torch.randn(longest, size, 80)
    texts = torch.randint(1, 32, (size, 30))
    return frames, lengths, texts, torch.full((size,), 30)


model = Recognizer().to(device)
criterion = nn.CTCLoss(zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for step in range(20):
    frames, lengths, texts, text_lengths = make_batch()
    letters = model(frames.to(device), lengths)
    loss = criterion(letters, texts.to(device), lengths, text_lengths)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
