class View:
    def __init__(self, name, splats):
        self.name = name
        self.splats = splats
        low, high = splats.means.detach().aminmax(dim=0)
        self.bounds = low.tolist(), high.tolist()

    def describe(self):
        (x0, y0), (x1, y1) = self.bounds
        return f"{self.name}: [{x0:.2f}, {x1:.2f}] x [{y0:.2f}, {y1:.2f}]"


class Viewer:
    view_type = View

    def __init__(self):
        self.views = {}

    def add_splats(self, name, splats):
        self.views[name] = self.view_type(name, splats)
        return self.views[name]

    def __str__(self):
        return "; ".join(view.describe() for view in self.views.values())
