import torch
from jobs import Board, InlineExecutor
from worker import Evaluator


def scans(count, size=72):
    generator = torch.Generator().manual_seed(77)
    for number in range(count):
        scan = torch.rand(1, 1, size, size, generator=generator)
        mask = (scan[:, 0] > 0.5).long() if number % 2 else torch.zeros(1, size, size, dtype=torch.long)
        yield f"scan{number:03d}", scan, mask


def main(board_type=Board, count=50):
    torch.manual_seed(80)
    board = board_type(InlineExecutor(), Evaluator().dice)
    for number, (name, scan, mask) in enumerate(scans(count)):
        board.add(name, scan, mask)
        if number % 10 == 9:
            scores = board.finished()
            print(number, f"dice {sum(scores) / len(scores):.3f}", len(board.failed()), "failed")


if __name__ == "__main__":
    main()
