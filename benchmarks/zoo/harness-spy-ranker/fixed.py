import functools
from unittest import mock

from harness import Harness
from train import main


class Counting(Harness):
    def __init__(self, objectives, names):
        super().__init__(objectives, names)
        self.calls = dict.fromkeys(names, 0)

    def watch(self, name):
        original = getattr(self.objectives, name)

        @functools.wraps(original)
        def counting(*args):
            self.calls[name] += 1
            return original(*args)

        return mock.patch.object(self.objectives, name, counting)

    def times(self, name):
        return self.calls[name]


if __name__ == "__main__":
    main(Counting)
