from torch import nn


class Harmoniser(nn.Module):
    def __init__(self, notes=48, width=96, chords=24):
        super().__init__()
        self.notes = nn.Embedding(notes, width)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.chords = nn.Linear(2 * width, chords)

    def forward(self, melody):
        return self.chords(self.lstm(self.notes(melody))[0])
