import torch


def verses(cfg, seed=5):
    """Endless batches of padded verses; the padding is not scored."""
    g = torch.Generator().manual_seed(seed)
    while True:
        tokens = torch.randint(3, cfg.vocab, (cfg.batch, cfg.context), generator=g)
        lengths = torch.randint(cfg.context // 2, cfg.context + 1, (cfg.batch, 1), generator=g)
        mask = torch.arange(cfg.context)[None] < lengths
        yield {
            "tokens": tokens.where(mask, torch.zeros_like(tokens)),
            "labels": tokens.where(mask, torch.full_like(tokens, -100)),
            "mask": mask.long(),
        }
