import torch
import torch.nn.functional as F
from pool import margin


class ActiveLearner:
    def __init__(self, model, survey, pool, keep=2):
        self.model = model
        self.survey = survey
        self.pool = pool
        self.keep = keep
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def learn(self, batch=32):
        photographs, labels = self.survey.draw(batch)
        self.model.train()
        loss = F.cross_entropy(self.model(photographs), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def triage(self, batch=24):
        """Look at fresh photographs and queue the ones that the model is least sure about."""
        self.model.eval()
        photographs, numbers = self.survey.unlabelled(batch)
        probabilities = self.model(photographs).softmax(-1)
        doubts = margin(probabilities)
        guesses = probabilities.argmax(-1).tolist()
        for position in doubts.topk(self.keep).indices.tolist():
            self.pool.offer(doubts[position], numbers[position], guesses[position])
