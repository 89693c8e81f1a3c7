from dataclasses import dataclass, field
from typing import Any, Callable


@dataclass
class Node:
    name: str
    run: Callable[..., Any]
    needs: tuple[str, ...] = ()
    state: str = "waiting"


@dataclass
class Flow:
    """Steps of an experiment, each run when what it needs is there."""

    nodes: dict[str, Node] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)

    def add(self, name, run, needs=()):
        self.nodes[name] = Node(name, run, tuple(needs))
        return self

    def ready(self):
        return [
            node
            for node in self.nodes.values()
            if node.state == "waiting" and all(self.nodes[need].state == "done" for need in node.needs)
        ]

    def execute(self, finished=None):
        while nodes := self.ready():
            for node in nodes:
                node.state = "running"
                self.results[node.name] = node.run(*(self.results[need] for need in node.needs))
                node.state = "done"
                if finished is not None:
                    finished(node)
        return self.results
