import torch
from detector import GridDetector, street_images
from engine import BaseTrainer


def running_mean(trainer):
    items = [float(item) for item in trainer.loss_items.detach()]
    before = trainer.mean or items
    trainer.mean = [0.8 * old + 0.2 * new for old, new in zip(before, items, strict=True)]


def main(trainer_class=BaseTrainer):
    torch.manual_seed(72)
    trainer = trainer_class(GridDetector(), street_images)
    trainer.add_callback("on_train_batch_end", running_mean)
    trainer.add_callback("on_train_epoch_end", lambda trainer: print(trainer.label()))
    trainer.do_train()


if __name__ == "__main__":
    main()
