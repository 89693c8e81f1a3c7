from failures import Trail
from train import main


class WordyTrail(Trail):
    def add(self, level, error):
        super().add(level, Exception(str(error)))


if __name__ == "__main__":
    main(WordyTrail)
