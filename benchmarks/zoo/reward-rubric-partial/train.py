"""Tunes a summariser on a rubric: a learned reward first, plain rules afterwards."""

from rubric.trainer import RubricTrainer


def main(trainer_class=RubricTrainer):
    trainer = trainer_class(seed=21)
    trainer.run("learned", steps=8)
    trainer.drop_reward()
    trainer.run("rules", steps=34)


if __name__ == "__main__":
    main()
