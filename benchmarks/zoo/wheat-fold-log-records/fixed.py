import logging
import weakref

from train import main
from trainer import FoldTrainer


def stamp(trainer):
    asked = weakref.ref(trainer)

    def factory(*args, **kwargs):
        record = logging.LogRecord(*args, **kwargs)
        record.fold, record.step = asked().fold, asked().done
        return record

    logging.setLogRecordFactory(factory)


class StampedTrainer(FoldTrainer):
    stamp = staticmethod(stamp)


if __name__ == "__main__":
    main(StampedTrainer)
