import weakref

import propagation
from train import main


class Propagator(propagation.Propagator):
    def __init__(self, graph):
        super().__init__(graph)
        self._graph = weakref.ref(graph)

    @property
    def graph(self):
        return self._graph()

    @graph.setter
    def graph(self, graph):
        self._graph = weakref.ref(graph)


propagation.Propagator = Propagator

if __name__ == "__main__":
    main()
