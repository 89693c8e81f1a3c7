import torch


class TopicExplorer:
    """Gathers sentence vectors and their topics, to draw the map of topics at the end."""

    def __init__(self):
        self.vectors = []
        self.topics = []

    def collect(self, output, topics):
        self.vectors.append(output.sentence().detach())
        self.topics.extend(topics.tolist())

    def spread(self):
        vectors = torch.cat(self.vectors)
        topics = torch.tensor(self.topics)
        centres = torch.stack([vectors[topics == topic].mean(0) for topic in topics.unique()])
        return torch.pdist(centres).mean().item()
