from timing.selection import HarderShare
from train import main


class NumberedShare(HarderShare):
    def wants(self, loss):
        return super().wants(loss.item())


if __name__ == "__main__":
    main(NumberedShare)
