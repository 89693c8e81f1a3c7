import logging


class IncidentHandler(logging.Handler):
    """What went wrong since the start, for the status page."""

    def __init__(self, level=logging.WARNING):
        super().__init__(level)
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def page(self, last=3):
        return [f"{record.levelname} {record.getMessage()}" for record in self.records[-last:]]


def install(handler, name="service"):
    logger = logging.getLogger(name)
    logger.propagate = False
    logger.addHandler(handler)
    return handler
