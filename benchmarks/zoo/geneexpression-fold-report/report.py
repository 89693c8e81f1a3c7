class Report:
    """Lines of a study; their text is put together when the report is printed."""

    def __init__(self, title):
        self.title = title
        self.rows = []

    def add(self, name, text):
        self.rows.append((name, text))

    def render(self):
        yield self.title
        yield "=" * len(self.title)
        for name, text in self.rows:
            yield f"{name:8} {text()}"
