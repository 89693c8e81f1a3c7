import torch
from encoding import EncodingModel, correlation
from scans import responses, stimuli
from torch.nn import functional
from towers import extract, registry

BANDS = {"frames": 256, "speech": 256, "words": 192}


def main(get=registry.get):
    torch.manual_seed(8)
    towers = [get(name) for name in BANDS]
    features = extract(towers, stimuli())
    del towers[:]

    voxels = responses(features)
    model = EncodingModel(BANDS, voxels.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    for step in range(60):
        rows = torch.randint(128, (48,))
        loss = functional.mse_loss(model(features[rows]), voxels[rows]) + model.ridge()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step + 1, f"{loss.item():.4f}")
    with torch.no_grad():
        print("bands", *registry.makers, "r", f"{correlation(model(features[128:]), voxels[128:]):.3f}")


if __name__ == "__main__":
    main()
