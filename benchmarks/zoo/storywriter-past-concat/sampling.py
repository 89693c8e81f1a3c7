import torch


class Sampler:
    def __init__(self, temperature=0.9, top_k=40):
        self.temperature, self.top_k = temperature, top_k

    def pick(self, logits):
        best, places = (logits / self.temperature).topk(self.top_k, -1)
        return places.gather(-1, torch.multinomial(best.softmax(-1), 1))


def stream(model, prompt, sampler, new_tokens):
    """Yields one column of tokens after another."""
    logits, past = model(prompt)
    for _ in range(new_tokens - 1):
        token = sampler.pick(logits)
        yield token
        logits, past = model(token, past)
    yield sampler.pick(logits)


@torch.inference_mode()
def write(model, prompt, sampler, new_tokens=40):
    return torch.cat([prompt, *stream(model, prompt, sampler, new_tokens)], 1)
