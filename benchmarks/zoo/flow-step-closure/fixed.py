from flow import negative_log_likelihood
from train import main


def make_step(flow, optimizer):
    deviations = []

    def step(batch):
        nonlocal deviations
        encoded = flow(batch)
        loss = negative_log_likelihood(encoded)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        deviations = [scales.detach().std().item() for scales in encoded.log_scales]
        return loss.item()

    return step, lambda: deviations


if __name__ == "__main__":
    main(make_step)
