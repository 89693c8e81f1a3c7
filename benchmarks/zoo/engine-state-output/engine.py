from collections import defaultdict
from types import SimpleNamespace


class Engine:
    """Calls a function for every batch of every epoch and tells whoever listens."""

    def __init__(self, process):
        self.process = process
        self.listeners = defaultdict(list)
        self.state = SimpleNamespace(epoch=0, iteration=0, batch=None, output=None, metrics={})

    def on(self, event, every=1):
        def register(function):
            self.listeners[event].append((every, function))
            return function

        return register

    def fire(self, event, count):
        for every, function in self.listeners[event]:
            if count % every == 0:
                function(self)

    def run(self, loader, max_epochs):
        for self.state.epoch in range(1, max_epochs + 1):
            for batch in loader():
                self.state.iteration += 1
                self.state.output = self.process(self, batch)
                self.fire("iteration", self.state.iteration)
            self.fire("epoch", self.state.epoch)
        return self.state
