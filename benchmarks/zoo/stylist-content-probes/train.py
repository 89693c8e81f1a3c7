import torch
from service import Order, Studio
from stylist import Stylist, feature_net


def show(number, picture, loss):
    print(f"order {number:2d}: brightness {picture.mean():.4f}, loss {loss:.5f}")


def main(stylist_class=Stylist, customers=12):
    torch.manual_seed(90)
    stylist = stylist_class(feature_net(), torch.rand(1, 3, 64, 64))
    studio = Studio(stylist, show)
    for number in range(customers):
        studio.order(Order(number, torch.rand(1, 3, 56, 56)))
        studio.work()


if __name__ == "__main__":
    main()
