import sys
import traceback

from notebook import CELLS
from shell import Shell


class TidyShell(Shell):
    def show_error(self):
        print(traceback.format_exception_only(*sys.exc_info()[:2])[-1].strip())


if __name__ == "__main__":
    shell = TidyShell()
    for cell in CELLS:
        shell.run_cell(cell)
