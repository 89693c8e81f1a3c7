from train import main
from worlds import DialogueWorld


class CountingWorld(DialogueWorld):
    def num_examples(self):
        return self.teacher.turns.shape[0] * self.teacher.turns.shape[1]


if __name__ == "__main__":
    main(CountingWorld)
