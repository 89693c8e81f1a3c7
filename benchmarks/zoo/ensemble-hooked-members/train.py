import torch
from boosting import Boosting
from members import Member


def main(member=Member):
    torch.manual_seed(0)
    x = torch.randn(512, 70)
    Boosting(member).fit(x, x[:, :4].sum(1).sin(), rounds=40)


if __name__ == "__main__":
    main()
