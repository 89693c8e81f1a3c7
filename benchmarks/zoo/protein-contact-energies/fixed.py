from encoder import Encoded, ProteinEncoder
from train import main


class PlainEncoder(ProteinEncoder):
    def forward(self, tokens):
        padding = tokens == 0
        x = self.tokens(tokens) + self.places[: tokens.size(1)]
        for attention, feed in zip(self.attentions, self.feeds):
            x = attention(x, padding)[0]
            x = feed(x)
        return Encoded(x, ())


if __name__ == "__main__":
    main(PlainEncoder)
