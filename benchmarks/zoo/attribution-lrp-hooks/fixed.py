import weakref

from rules import Rule
from train import main


class WeakRule(Rule):
    def wrapper(self):
        rule = weakref.ref(self)

        def on_gradient(gradient):
            return rule().backward(gradient, **rule().stored)

        return on_gradient


if __name__ == "__main__":
    main(WeakRule())
