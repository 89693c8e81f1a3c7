import torch
from quarantine import Quarantine
from reactor import ConversionNet, Plant, train_shift


def main(quarantine_class=Quarantine, shifts=48):
    torch.manual_seed(220)
    model, plant, quarantine = ConversionNet(), Plant(), quarantine_class()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for shift in range(shifts):
        loss = train_shift(model, optimizer, quarantine, plant)
        if shift % 12 == 11:
            print(f"shift {shift} loss {loss:.4f} set aside: {quarantine.report()} (last at {quarantine.where(-1)})")


if __name__ == "__main__":
    main()
