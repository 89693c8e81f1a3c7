from dataclasses import dataclass, field


@dataclass
class Ranking:
    """The best passages of each query, as (relevance, place) pairs of numbers."""

    keep: int = 5
    best: dict = field(default_factory=dict)

    def offer(self, query, values, offset):
        known = self.best.setdefault(query, [])
        known.extend((value, offset + place) for place, value in enumerate(values))
        known.sort(reverse=True)
        del known[self.keep :]


class Reranker:
    def __init__(self, model, ranking):
        self.model, self.ranking = model.eval(), ranking
        self.seen = {}

    def rank(self, batches):
        for query, pairs in batches:
            scores = self.model(pairs)
            offset = self.seen.get(query, 0)
            self.ranking.offer(query, scores.tolist(), offset)
            self.seen[query] = offset + len(pairs)
        return self.ranking
