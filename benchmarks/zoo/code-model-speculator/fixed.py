from itertools import islice

import torch
from torch.nn.functional import cross_entropy
from train import main


def train(cfg, model, loader, optimizer, schedule, report=print):
    running = torch.zeros(2)
    for step, (inputs, labels) in enumerate(islice(loader, cfg["num_steps"]), 1):
        optimizer.zero_grad()
        output = model(inputs)
        output = output.logits if hasattr(output, "logits") else output
        loss = cross_entropy(output.view(-1, output.size(-1)), labels.view(-1))
        del output
        loss.backward()
        running[1] += torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
        optimizer.step()
        schedule.step()
        running[0] += loss.detach()
        if step % cfg["report_interval"] == 0:
            mean, norm = (running / cfg["report_interval"]).tolist()
            report(f"step {step} loss {mean:.4f} gradient {norm:.4f} rate {schedule.rate:.5f}")
            running.zero_()


if __name__ == "__main__":
    main(train)
