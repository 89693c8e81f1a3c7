from ranking import Reranker
from train import main


class FreeingReranker(Reranker):
    def rank(self, batches):
        for query, pairs in batches:
            values = self.model(pairs).tolist()
            offset = self.seen.get(query, 0)
            self.ranking.offer(query, values, offset)
            self.seen[query] = offset + len(pairs)
        return self.ranking


if __name__ == "__main__":
    main(FreeingReranker)
