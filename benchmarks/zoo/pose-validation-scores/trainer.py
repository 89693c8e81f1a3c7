import torch


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs, self.logged = max_epochs, {}

    def log(self, name, value):
        self.logged[name] = round(value, 4)

    def fit(self, module, training, validation):
        optimizer = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            for batch in training():
                self.optimise(module, optimizer, batch)
            self.validate(module, validation)
            if epoch % 3 == 0:
                print(epoch, self.logged)

    def optimise(self, module, optimizer, batch):
        optimizer.zero_grad()
        loss = module.training_step(batch)
        loss.backward()
        optimizer.step()
        self.log("loss", loss.item())

    @torch.no_grad()
    def validate(self, module, validation):
        module.eval()
        self.log("hit", torch.stack([module.validation_step(batch) for batch in validation()]).mean().item())
        module.on_validation_epoch_end(self.log)
        module.train()
