import logging
import sys


def setup():
    logging.basicConfig(stream=sys.stdout, format="%(fold)s/%(step)02d %(message)s", level=logging.INFO, force=True)


def stamp(trainer):
    """Every record says from now on which fold it is of and which step."""
    plain = logging.getLogRecordFactory()

    def factory(*args, **kwargs):
        record = plain(*args, **kwargs)
        record.fold, record.step = trainer.fold, trainer.done
        return record

    logging.setLogRecordFactory(factory)
