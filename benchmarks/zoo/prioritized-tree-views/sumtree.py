import torch


class PriorityMemory:
    """Keeps one priority per transition, indexed by its number."""

    def __init__(self):
        self.priorities = []

    def extend(self, td_errors):
        for error in td_errors:
            self.priorities.append(error)

    def sample(self, count):
        weights = torch.stack(self.priorities[-2000:])
        return torch.multinomial(weights, count)


def td_errors_of_new(all_errors, fresh):
    """The last `fresh` rows belong to transitions that have no priority yet."""
    return all_errors[-fresh:, 0]
