from charlm import StreamFitter
from train import main


class TruncatingFitter(StreamFitter):
    def fit_window(self, chars, following, hidden):
        loss, hidden = super().fit_window(chars, following, hidden)
        return loss, hidden.detach()


if __name__ == "__main__":
    main(TruncatingFitter)
