import logging

from recorder import FlightRecorder
from train import main


class TextRecorder(FlightRecorder):
    def emit(self, record):
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
            record.exc_info = None
        super().emit(record)


if __name__ == "__main__":
    main(TextRecorder)
