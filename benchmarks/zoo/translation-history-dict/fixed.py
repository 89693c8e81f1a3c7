from history import History
from train import run


class FloatHistory(History):
    def log(self, name, value):
        super().log(name, value.item())


if __name__ == "__main__":
    run(FloatHistory())
