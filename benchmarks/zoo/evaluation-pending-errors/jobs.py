from concurrent.futures import Future
from functools import partial


def outcome(function, args):
    try:
        return function(*args), None
    except Exception as error:
        return None, error


class InlineExecutor:
    """Same interface as a pool; runs each job at once, which is what is wanted for debugging."""

    def submit(self, function, *args):
        value, error = outcome(function, args)
        future = Future()
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
        return future


class Board:
    """Everything that was submitted, by scan."""

    def __init__(self, executor, score):
        self.submit = partial(executor.submit, score)
        self.jobs = {}

    def add(self, name, *inputs):
        self.jobs[name] = self.entry(self.submit(*inputs))

    def entry(self, future):
        return future

    def finished(self):
        return [job.result() for job in self.jobs.values() if job.exception() is None]

    def failed(self):
        return {name: str(job.exception()) for name, job in self.jobs.items() if job.exception() is not None}
