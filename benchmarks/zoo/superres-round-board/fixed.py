import torch
from phases import PHASES
from torch.nn import functional
from train import main


def judge(game, board):
    with torch.no_grad():
        guess = game.painter(board.coarse)
    verdict = game.critic(torch.cat((board.sharp, guess)))
    real, made = verdict.chunk(2)
    loss = functional.softplus(-real).mean() + functional.softplus(made).mean()
    game.descend("critic", loss)
    board.report["critic"] = loss.item()


if __name__ == "__main__":
    main({**PHASES, 20: judge})
