from hints import Hints
from train import main


class Detached(Hints):
    def detach_from(self, student=True):
        super().detach_from(student)
        for mine, _ in self.taps:
            mine.remove()


if __name__ == "__main__":
    main(Detached)
