from go.search import Search
from train import main


class CutSearch(Search):
    def close(self):
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            node.parent = None
            waiting.extend(node.children)


if __name__ == "__main__":
    main(CutSearch)
