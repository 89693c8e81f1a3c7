import torch


class PromptProcessor:
    """Turns prompts into conditioning vectors; every prompt is encoded once."""

    def __init__(self, tokenizer, embed, chunk=24):
        self.tokenizer = tokenizer
        self.embed = embed
        self.chunk = chunk
        self.known = {}

    def prepare(self, prompts):
        for start in range(0, len(prompts), self.chunk):
            part = prompts[start : start + self.chunk]
            vectors = self.embed(self.tokenizer(part))
            self.known.update((prompt, vector.clone()) for prompt, vector in zip(part, vectors))
        return len(self.known)

    def __call__(self, prompts):
        return torch.stack([self.known[prompt] for prompt in prompts])
