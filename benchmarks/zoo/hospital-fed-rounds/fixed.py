from server import Server
from train import main


class ShortHistory(Server):
    def remember(self, updates):
        self.history[:] = [updates]


if __name__ == "__main__":
    main(ShortHistory)
