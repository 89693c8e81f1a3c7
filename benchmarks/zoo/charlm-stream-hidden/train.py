import torch
from charlm import CharModel, StreamFitter, Text
from optimizer import PlainAdagrad


def main(fitter_class=StreamFitter):
    torch.manual_seed(1)
    model = CharModel()
    fitter_class(model, PlainAdagrad(model.parameters(), lr=0.03)).fit(Text())
    print("done")


if __name__ == "__main__":
    main()
