from swapping import Swapper
from train import main


class OneStepBack(Swapper):
    def fresh(self):
        self.steps_back.clear()
        return super().fresh()


if __name__ == "__main__":
    main(OneStepBack)
