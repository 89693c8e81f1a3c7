import torch
from learner import ActiveLearner
from pool import CandidatePool
from reef import ReefClassifier, ReefSurvey


def main(learner_class=ActiveLearner, pool_class=CandidatePool, steps=45):
    torch.manual_seed(90)
    learner = learner_class(ReefClassifier(), ReefSurvey(), pool_class())
    for step in range(steps):
        loss = learner.learn()
        learner.triage()
        if step % 9 == 8:
            print(f"step {step} loss {loss:.3f} waiting {len(learner.pool)} next {learner.pool.best(3)}")


if __name__ == "__main__":
    main()
