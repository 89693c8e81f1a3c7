"""Best-first search over positions."""

from __future__ import annotations

import torch

from go.network import evaluate


class Node:
    def __init__(self, boards, parent=None, move=None):
        self.boards = boards
        self.parent = parent
        self.move = move
        self.children = []
        self.visits = 0
        self.worth = 0.0

    def expand(self, priors, width):
        for move in priors.mean(0).topk(width).indices.tolist():
            boards = self.boards.clone()
            boards[:, move] = 1 - 2 * (self.visits % 2)
            self.children.append(Node(boards, parent=self, move=move))

    def back_up(self, value):
        node = self
        while node is not None:
            node.visits += 1
            node.worth += value
            value, node = -value, node.parent


class Search:
    def __init__(self, network, boards, width=4):
        self.network = network
        self.root = Node(boards)
        self.width = width

    def run(self, rounds=5):
        frontier = [self.root]
        for _ in range(rounds):
            node = frontier.pop(0)
            priors, values = evaluate(self.network, node.boards)
            node.expand(priors, self.width)
            node.back_up(values.mean().item())
            frontier.extend(node.children)
        return max(self.root.children, key=lambda child: (child.visits, -child.worth))

    def close(self):
        pass


def targets(root):
    """Which of the points the search looked at, as shares."""
    shares = torch.zeros(root.boards.shape[-1])
    for child in root.children:
        shares[child.move] = 1 + child.visits
    return shares / shares.sum()
