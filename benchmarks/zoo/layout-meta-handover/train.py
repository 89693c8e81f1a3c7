import torch
from bay import ModelBay
from meters import Dashboard
from rounds import label, propose


def main(dashboard_class=Dashboard):
    torch.manual_seed(29)
    bay, dashboard = ModelBay(), dashboard_class()
    chances = propose(bay, dashboard, steps=12)
    label(bay, dashboard, steps=36, chances=chances)
    dashboard.show()
    print(bay.describe())


if __name__ == "__main__":
    main()
