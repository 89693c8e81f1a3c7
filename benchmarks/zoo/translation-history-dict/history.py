from collections import defaultdict


class History:
    """Scalars by name, for the plots at the end."""

    def __init__(self):
        self.scalars = defaultdict(list)

    def log_dict(self, values, prefix=""):
        for name, value in values.items():
            self.log(prefix + name, value)

    def log(self, name, value):
        self.scalars[name].append(value)

    def last(self, name):
        return float(self.scalars[name][-1])
