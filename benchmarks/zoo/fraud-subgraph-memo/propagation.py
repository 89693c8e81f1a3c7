from weakref import WeakKeyDictionary

import torch

_prepared = WeakKeyDictionary()


class Propagator:
    """Symmetrically normalised sums over neighbours."""

    def __init__(self, graph):
        self.graph = graph
        n = len(graph.x)
        degree = torch.ones(n).index_add_(0, graph.edges[1], torch.ones(graph.edges.shape[1]))
        self.weight = (degree[graph.edges[0]] * degree[graph.edges[1]]).rsqrt()
        self.own = 1 / degree

    def __call__(self, h):
        source, target = self.graph.edges
        out = h * self.own[:, None]
        return out.index_add(0, target, h[source] * self.weight[:, None])


def propagator(graph):
    """Made once for each graph, shared by the layers; it goes when the graph goes."""
    if graph not in _prepared:
        _prepared[graph] = Propagator(graph)
    return _prepared[graph]
