import torch
from learner import OnlineLearner
from model import SessionRecommender
from stream import day_by_day


def main(learner_class=OnlineLearner):
    torch.manual_seed(40)
    learner = learner_class(SessionRecommender(1000))
    for number, sessions in enumerate(day_by_day()):
        loss = learner.learn(sessions)
        if number % 8 == 0:
            print(f"{learner.seen:4d} sessions, {sessions.catalogue} items, loss {loss:.3f}")


if __name__ == "__main__":
    main()
