"""What an answer is judged by: functions from tokens to one number each."""

from functools import partial


def by_model(tokens, *, model, scale):
    return scale * model(tokens)


def by_variety(tokens, *, scale):
    return scale * (tokens.sort(-1).values.diff(dim=-1) != 0).float().mean(-1)


class Rubric:
    def __init__(self):
        self.criteria = {}
        self.active = []

    def add(self, name, function, **settings):
        self.criteria[name] = partial(function, **settings)

    def choose(self, *names):
        self.active = list(names)

    def __call__(self, tokens):
        return sum(self.criteria[name](tokens) for name in self.active)
