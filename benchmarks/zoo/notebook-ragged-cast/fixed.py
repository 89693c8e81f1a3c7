import sys

from notebook import Notebook
from train import main


class ForgetfulNotebook(Notebook):
    def showtraceback(self):
        super().showtraceback()
        sys.last_type = sys.last_value = sys.last_traceback = None


if __name__ == "__main__":
    main(ForgetfulNotebook)
