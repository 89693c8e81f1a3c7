import torch
from torch.nn import functional

PHASES = {}


def phase(order):
    """Put a phase of the round at its place."""

    def place(function):
        PHASES[order] = function
        return function

    return place


@phase(10)
def fetch(game, board):
    board.sharp = next(game.photos)
    board.coarse = functional.avg_pool2d(board.sharp, 2)


@phase(20)
def judge(game, board):
    with torch.no_grad():
        board.guess = game.painter(board.coarse)
    board.shown = torch.cat((board.sharp, board.guess))
    verdict = game.critic(board.shown)
    real, made = verdict.chunk(2)
    loss = functional.softplus(-real).mean() + functional.softplus(made).mean()
    game.descend("critic", loss)
    board.report["critic"] = loss.item()


@phase(30)
def paint(game, board):
    picture = game.painter(board.coarse)
    fooled = functional.softplus(-game.critic(picture)).mean()
    loss = functional.l1_loss(picture, board.sharp) + 0.01 * fooled
    game.descend("painter", loss)
    board.report["painter"] = loss.item()
