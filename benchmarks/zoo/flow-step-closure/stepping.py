from flow import negative_log_likelihood


def make_step(flow, optimizer):
    """The function that takes one step, and one that tells about the last."""
    latest = None

    def step(batch):
        nonlocal latest
        latest = flow(batch)
        loss = negative_log_likelihood(latest)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def spread():
        return [scales.detach().std().item() for scales in latest.log_scales]

    return step, spread
