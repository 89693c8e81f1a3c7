from itertools import islice

import torch
from crops import CropNet, objective, parcels
from dayfeatures import day_encoding


def main(encode=day_encoding, steps=40):
    torch.manual_seed(60)
    net = CropNet(encode)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for step, batch in enumerate(islice(parcels(), steps)):
        optimizer.zero_grad(set_to_none=True)
        loss = objective(net, batch)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, round(loss.item(), 4))


if __name__ == "__main__":
    main()
