import logging

from incidents import IncidentHandler
from train import main


class TextHandler(IncidentHandler):
    plain = logging.Formatter()

    def emit(self, record):
        record.exc_text = self.plain.formatException(record.exc_info)
        record.exc_info = None
        super().emit(record)


if __name__ == "__main__":
    main(TextHandler)
