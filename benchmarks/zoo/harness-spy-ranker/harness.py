from unittest import mock


class Harness:
    """Runs a training function and says how often each objective was asked for."""

    def __init__(self, objectives, names):
        self.objectives, self.names = objectives, names
        self.counted = {}

    def watch(self, name):
        return mock.patch.object(self.objectives, name, wraps=getattr(self.objectives, name))

    def times(self, name):
        return self.counted[name].call_count

    def run(self, function, *args):
        patches = [self.watch(name) for name in self.names]
        self.counted = {name: patch.start() for name, patch in zip(self.names, patches)}
        try:
            result = function(*args)
            for name in self.names:
                print(name, "called", self.times(name), "times")
            return result
        finally:
            for patch in patches:
                patch.stop()
