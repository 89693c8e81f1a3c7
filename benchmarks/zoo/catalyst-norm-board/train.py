import torch
import torch.nn.functional as F
from board import MetricsBoard
from surface import AdsorptionNet, sites


def gradient_norms(model):
    return {name: parameter.grad.norm() for name, parameter in model.named_parameters()}


def train_one(model, optimizer, board, values, energies):
    loss = F.huber_loss(model(values), energies)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    board.scalar("loss", loss.detach())
    board.scalars("grad", gradient_norms(model))
    optimizer.step()
    board.tick()


def main(board_class=MetricsBoard, steps=56):
    torch.manual_seed(120)
    model = AdsorptionNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    board = board_class()
    for values, energies in sites(steps):
        train_one(model, optimizer, board, values, energies)
    board.flush(only="loss")


if __name__ == "__main__":
    main()
