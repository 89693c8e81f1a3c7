import torch
from train import main


class FirstAndLast:
    def __init__(self):
        self.first = self.last = None

    def remember(self, step, images):
        self.last = images.clamp(-1, 1)
        if self.first is None:
            self.first = self.last


if __name__ == "__main__":
    sheet = FirstAndLast()
    print(main(sheet.remember), torch.cat([sheet.first, sheet.last]).shape)
