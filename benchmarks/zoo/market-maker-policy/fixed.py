from agent import Losses
from train import main
from window import RecentWindow


class ValueWindow(RecentWindow):
    def push(self, losses):
        self.recent.append(Losses(*(term.detach() for term in losses)))


if __name__ == "__main__":
    main(ValueWindow)
