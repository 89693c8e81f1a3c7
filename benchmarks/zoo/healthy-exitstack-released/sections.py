"""A section of a long notebook: what it opens it closes."""

from contextlib import ExitStack


class Section(ExitStack):
    def __init__(self, title):
        super().__init__()
        self.title = title
        self.kept = []

    def keep(self, panel, note):
        self.kept.append(panel)
        self.callback(self.write, note, panel)
        return panel

    def write(self, note, panel):
        if note % 16 == 0:
            print(f"{self.title}: panel {note} has mean {panel.mean():.3f}")
