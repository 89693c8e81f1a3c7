import torch
from rotary import RotaryTable
from train import main


class ShiftedTable(RotaryTable):
    """One table, of the window read last."""

    def forward(self, offset, length):
        angles = torch.arange(offset, offset + length).unsqueeze(1) * self.inverse
        return torch.cat([angles.cos(), angles.sin()], -1)


if __name__ == "__main__":
    main(ShiftedTable)
