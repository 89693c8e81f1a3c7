import torch
from ranking import Ranking, Reranker
from reranker import CrossEncoder, corpus


def main(reranker_class=Reranker):
    torch.manual_seed(4)
    ranking = reranker_class(CrossEncoder(), Ranking()).rank(corpus())
    for query in (0, 7, 19):
        print(query, [place for _, place in ranking.best[query]], f"{ranking.best[query][0][0]:.4f}")


if __name__ == "__main__":
    main()
