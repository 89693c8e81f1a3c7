from stylist import Stylist
from train import main


class TidyStylist(Stylist):
    def start(self):
        for probe in self.content:
            probe.detach()
        super().start()


if __name__ == "__main__":
    main(TidyStylist)
