import torch


class BeamSearch:
    def __init__(self, model, make_memories, reorder, beams=4, length=20):
        self.model, self.make_memories, self.reorder = model, make_memories, reorder
        self.beams, self.length = beams, length

    def candidates(self, scores, logp):
        images, vocab = scores.size(0), logp.size(-1)
        totals = (scores[..., None] + logp.view(images, self.beams, vocab)).flatten(1)
        scores, places = totals.topk(self.beams, 1)
        parents = places // vocab + self.beams * torch.arange(images)[:, None]
        return scores, parents.flatten(), (places % vocab).view(-1, 1)

    @torch.no_grad()
    def caption(self, patches):
        images = patches.size(0)
        memories = self.make_memories(self.model.depth)
        logp = self.model(patches.repeat_interleave(self.beams, 0), memories)
        scores = torch.full((images, self.beams), float("-inf"))
        scores[:, 0] = 0.0
        words = torch.empty(images * self.beams, 0, dtype=torch.long)
        for _ in range(self.length):
            scores, parents, word = self.candidates(scores, logp)
            words = torch.cat((words[parents], word), 1)
            memories = self.reorder(memories, parents)
            logp = self.model(word, memories)
        best = scores.argmax(1) + self.beams * torch.arange(images)
        return words[best], scores.amax(1)
