import torch
from history import History
from seq2seq import Seq2Seq

STEPS = 30


def sentence_pairs():
    for _ in range(STEPS):
        yield torch.randint(200, (8, 14)), torch.randint(200, (8, 15))


def run(history):
    torch.manual_seed(12)
    model = Seq2Seq()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (source, target) in enumerate(sentence_pairs(), 1):
        losses = model.losses(source, target)
        losses["nll"].backward()
        optimizer.step()
        optimizer.zero_grad()
        history.log_dict(losses, prefix="train/")
        if step % 10 == 0:
            print(step, history.last("train/nll"), history.last("train/entropy"))
        del losses


if __name__ == "__main__":
    run(History())
