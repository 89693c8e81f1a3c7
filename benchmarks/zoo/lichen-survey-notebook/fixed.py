import sys

from bench.workspace import Workspace
from train import main


class TidyWorkspace(Workspace):
    def close(self, module):
        del sys.modules[module.__name__]
        vars(module).clear()


if __name__ == "__main__":
    main(TidyWorkspace)
