from beetles.relevance import LayerRelevance
from train import main


class TidyRelevance(LayerRelevance):
    def shares(self, photographs):
        result = super().shares(photographs)
        self.inputs.clear()
        return result


if __name__ == "__main__":
    main(TidyRelevance)
