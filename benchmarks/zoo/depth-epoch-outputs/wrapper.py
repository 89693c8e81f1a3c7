import torch
from depthnet import supervised


class ModelWrapper:
    """What the trainer needs of a model: steps, and what to do with their results at an epoch's end."""

    def __init__(self, depth_net, lr=1e-3):
        self.depth_net = depth_net
        self.optimizer = torch.optim.Adam(depth_net.parameters(), lr=lr)

    def training_step(self, batch):
        loss, metres = supervised(self.depth_net(batch["rgb"]), batch["depth"])
        return {"loss": loss, "metrics": {"rmse": metres}}

    def training_epoch_end(self, outputs):
        rmse = torch.stack([output["metrics"]["rmse"] for output in outputs])
        loss = torch.stack([output["loss"] for output in outputs])
        return {"loss": loss.mean().item(), "rmse": rmse.mean().item()}


class EpochTrainer:
    def __init__(self, epochs=3):
        self.epochs = epochs

    def fit(self, module, loader):
        for epoch in range(self.epochs):
            values = module.training_epoch_end(self.train(module, loader))
            print(epoch, {name: round(value, 4) for name, value in values.items()})

    def train(self, module, loader):
        outputs = []
        for batch in loader():
            module.optimizer.zero_grad()
            output = module.training_step(batch)
            output["loss"].backward()
            module.optimizer.step()
            outputs.append(output)
        return outputs
