from torch import nn


class AssociativeMemory(nn.Module):
    """Keys and values written into a matrix that fades; queries read from it."""

    def __init__(self, inputs=40, width=64, fade=0.9):
        super().__init__()
        self.key = nn.Linear(inputs, width)
        self.value = nn.Linear(inputs, width)
        self.query = nn.Linear(inputs, width)
        self.fade = fade
        self.matrix = None

    def write(self, x):
        fresh = self.key(x).T @ self.value(x) / len(x)
        self.matrix = fresh if self.matrix is None else self.fade * self.matrix + fresh

    def forward(self, x):
        self.write(x)
        return self.query(x) @ self.matrix
