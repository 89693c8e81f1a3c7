import torch
from train import main


def make_training_function(config, model, loader, on_epoch):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=config["lr"])

    def train_batch(batch):
        outputs = model(**batch)
        optimizer.zero_grad()
        outputs["loss"].backward()
        optimizer.step()
        return outputs["loss"].detach(), outputs["balance"].detach()

    def training_function():
        for epoch in range(config["num_epochs"]):
            loss_sum, balance_sum = torch.tensor(0.0), torch.tensor(0.0)
            for batch in loader(config["batches"]):
                loss, balance = train_batch(batch)
                loss_sum += loss
                balance_sum = balance_sum + balance
            on_epoch(epoch, loss_sum.item() / config["batches"], balance_sum.item() / config["batches"])

    return training_function


if __name__ == "__main__":
    main(make_training_function)
