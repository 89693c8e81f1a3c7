from rubric.trainer import RubricTrainer
from train import main


class ThoroughTrainer(RubricTrainer):
    def drop_reward(self):
        super().drop_reward()
        self.rubric.criteria.pop("learned")


if __name__ == "__main__":
    main(ThoroughTrainer)
