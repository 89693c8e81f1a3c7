import torch
from saving import Saver
from stages import finetune, pretrain


def main(saver):
    torch.manual_seed(40)
    rows = torch.randn(128, 72)
    labels = rows[:, :8].argmax(1)
    encoder = pretrain(rows, saver)
    finetune(encoder, rows, labels)


if __name__ == "__main__":
    main(Saver())
