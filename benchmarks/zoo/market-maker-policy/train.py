import torch
from agent import A2CConfig, Learner, QuotingPolicy
from book import OrderBook
from window import RecentWindow


def main(window_class=RecentWindow, updates=50):
    torch.manual_seed(3)
    book = OrderBook()
    learner = Learner(QuotingPolicy(), A2CConfig())
    dice = torch.Generator().manual_seed(12)
    window = window_class()
    for update in range(1, updates + 1):
        window.push(learner.update(learner.collect(book, dice)))
        if update % 10 == 0:
            print(update, {name: round(mean, 4) for name, mean in window.means().items()})


if __name__ == "__main__":
    main()
