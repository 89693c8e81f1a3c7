import tempfile
from pathlib import Path

import torch
from first_run import chars, train_and_save
from model import CharModel

max_iters = 46
log_interval = 10
learning_rate = 1e-3
torch.manual_seed(1337)

out_dir = tempfile.TemporaryDirectory()
ckpt_path = Path(out_dir.name) / "ckpt.pt"
train_and_save(ckpt_path)

model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
checkpoint = torch.load(ckpt_path, map_location="cpu")
state_dict = checkpoint["model"]
unwanted_prefix = "_orig_mod."
for k in list(state_dict):
    if k.startswith(unwanted_prefix):
        state_dict[k[len(unwanted_prefix) :]] = state_dict.pop(k)
model.load_state_dict(state_dict)
optimizer.load_state_dict(checkpoint["optimizer"])
iter_num = checkpoint["iter_num"]
checkpoint = None  # free up memory

batches = chars(seed=1)
while iter_num < max_iters:
    X, Y = next(batches)
    loss = model(X, Y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if iter_num % log_interval == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}")
    iter_num += 1
out_dir.cleanup()
