import torch


class LatentBank:
    """Latents of the whole catalogue, made anew with fresh noise every few epochs."""

    def __init__(self, encoder, catalogue, every, chunk=24):
        self.encoder, self.catalogue = encoder.eval().requires_grad_(False), catalogue
        self.every, self.chunk = every, chunk
        self.rows = None

    @torch.no_grad()
    def refresh(self):
        places = torch.arange(len(self.catalogue)).split(self.chunk)
        self.rows = torch.cat([self.encoder(self.catalogue.heard(rows)) for rows in places])

    def epoch(self, number, batch=16):
        if number % self.every == 0:
            self.refresh()
        order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(number))
        for rows in order.split(batch):
            yield self.rows[rows], self.catalogue.depth[rows]
