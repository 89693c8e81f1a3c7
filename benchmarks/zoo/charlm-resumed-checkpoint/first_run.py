import torch
from model import CharModel


def chars(seed, batch=8, length=48):
    generator = torch.Generator().manual_seed(seed)
    while True:
        ids = torch.randint(65, (batch, length + 1), generator=generator)
        yield ids[:, :-1], ids[:, 1:]


def train_and_save(path, steps=6):
    """What was run yesterday; ends with a checkpoint of a compiled model."""
    model = CharModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _, (idx, targets) in zip(range(steps), chars(0)):
        loss = model(idx, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    weights = {"_orig_mod." + name: value for name, value in model.state_dict().items()}
    torch.save({"model": weights, "optimizer": optimizer.state_dict(), "iter_num": steps}, path)
