import torch
from memo import once

VALUES = torch.tensor([0.0, 1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0])


class Position:
    """A board of 64 squares: 0 is empty, 1 to 6 are white's pieces and 7 to 12 black's."""

    __slots__ = ("board", "white")

    def __init__(self, board, white):
        self.board, self.white = board, white

    @classmethod
    def scattered(cls, generator):
        board = torch.randint(13, (8, 8), generator=generator, dtype=torch.int8)
        empty = torch.rand(8, 8, generator=generator) < 0.6
        return cls(board.masked_fill_(empty, 0), bool(torch.rand((), generator=generator) < 0.5))

    @once
    def planes(self):
        pieces = torch.nn.functional.one_hot(self.board.long(), 13).permute(2, 0, 1).float()
        open_lines = torch.stack((pieces[0].mean(0).expand(8, 8), pieces[0].mean(1, keepdim=True).expand(8, 8)))
        turn = torch.full((1, 8, 8), 1.0 if self.white else -1.0)
        return torch.cat((pieces, open_lines, turn))

    def balance(self):
        material = VALUES[self.board.long()].sum()
        return (material if self.white else -material).mul(0.1).tanh()
