import gc

from canal.pauses import PauseWatch
from train import main


class ClosedWatch(PauseWatch):
    def __exit__(self, *error):
        super().__exit__(*error)
        gc.callbacks.remove(self.callback)
        self.callback = None


if __name__ == "__main__":
    main(ClosedWatch)
