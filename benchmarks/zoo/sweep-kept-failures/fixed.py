from sweep import Sweep
from train import main


class TextSweep(Sweep):
    def note(self, failure):
        self.failures.append(str(failure))


if __name__ == "__main__":
    main(TextSweep())
