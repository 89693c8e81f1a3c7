import torch
from clients import serve
from engine import ChatEngine, Decoder


def main(make_engine=ChatEngine, count=40):
    torch.manual_seed(12)
    serve(make_engine(Decoder().eval()), count)


if __name__ == "__main__":
    main()
