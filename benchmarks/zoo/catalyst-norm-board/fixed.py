from board import MetricsBoard
from train import main


class NumberBoard(MetricsBoard):
    def scalar(self, key, value):
        super().scalar(key, value.item())


if __name__ == "__main__":
    main(NumberBoard)
