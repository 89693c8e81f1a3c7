import time
from functools import wraps

import torch


def timed(function):
    @wraps(function)
    def measured(*arguments, **options):
        start = time.perf_counter()
        result = function(*arguments, **options)
        measured.seconds += time.perf_counter() - start
        return result

    measured.seconds = 0.0
    return measured


def make_training_function(config, model, loader, on_epoch):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=config["lr"])

    @timed
    def backward_and_step(loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def training_function():
        for epoch in range(config["num_epochs"]):
            loss_sum, balance_sum = torch.tensor(0.0), torch.tensor(0.0)
            for batch in loader(config["batches"]):
                outputs = model(**batch)
                loss_sum += outputs["loss"].detach()
                balance_sum = balance_sum + outputs["balance"]
                backward_and_step(outputs.pop("loss"))
            on_epoch(epoch, loss_sum.item() / config["batches"], balance_sum.item() / config["batches"])

    return training_function
