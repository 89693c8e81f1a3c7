import torch

from go.search import targets


class SelfPlay:
    def __init__(self, network, search_class):
        self.network = network
        self.search_class = search_class
        self.optimizer = torch.optim.SGD(network.parameters(), lr=0.05)

    def step(self):
        boards = torch.randint(-1, 2, (48, 361)).float()
        search = self.search_class(self.network, boards)
        best = search.run()
        wanted = targets(search.root)
        priors, values = self.network(boards)
        loss = -(wanted * priors.log_softmax(-1)).sum(-1).mean() + values.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        search.close()
        return loss.item(), best.move
