from monitor import Monitor, log
from train import main


class Terse(Monitor):
    def describe(self, number, residual, level):
        log.debug("window %d residual %.4f level %.4f", number, residual.std().item(), level.mean().item())


if __name__ == "__main__":
    main(Terse)
