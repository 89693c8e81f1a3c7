import torch
from runtime import current_session


def score_all(batches):
    return [current_session().score(pairs) for pairs in batches]


def hard_pairs(batches):
    """The half of every batch that the session's model finds hardest, with its scores."""
    chosen = []
    for pairs, scores in zip(batches, score_all(batches)):
        worst = scores.argsort()[: len(pairs) // 2]
        chosen.append((pairs[worst], torch.sigmoid(scores[worst])))
    return chosen
