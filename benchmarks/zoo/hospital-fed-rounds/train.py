import random

import torch
from hospital import Hospital, risk_model
from server import Server


def main(kind=Server, rounds=12, chosen=3):
    torch.manual_seed(0)
    random.seed(0)
    hospitals = [Hospital(i) for i in range(9)]
    server = kind(risk_model())
    for r in range(rounds):
        sent = server.broadcast()
        updates, losses = zip(*(h.local_update(sent) for h in random.sample(hospitals, chosen)))
        top = server.aggregate(list(updates))
        if r % 3 == 2:
            print(f"round {r + 1} loss {sum(losses) / chosen:.4f} heaviest {top:.2f}")


if __name__ == "__main__":
    main()
