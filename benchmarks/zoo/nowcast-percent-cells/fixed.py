import sys

from session import Session
from train import main


class ForgettingSession(Session):
    def after_cell(self, number, complaint):
        super().after_cell(number, complaint)
        sys.last_type = sys.last_value = sys.last_traceback = sys.last_exc = None


if __name__ == "__main__":
    main(ForgettingSession)
