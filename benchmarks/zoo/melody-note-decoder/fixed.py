from decoder import smoothed_nll
from torch.nn import functional as F
from train import main


def update(model, optimizer, notes, following):
    log_probs = F.log_softmax(model(notes), dim=-1)
    loss = smoothed_nll(log_probs, following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    main(update)
