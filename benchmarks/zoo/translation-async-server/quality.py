import asyncio
from dataclasses import dataclass, field


@dataclass
class Report:
    replies: list = field(default_factory=list)
    correct: int = 0
    total: int = 0

    def add(self, reply, reference):
        self.replies.append(reply)
        self.correct += int((reply.words == reference).sum())
        self.total += reference.numel()

    def summary(self):
        ranked = sorted(reply.sure for reply in self.replies)
        return {
            "accuracy": round(self.correct / self.total, 4),
            "least sure": round(ranked[0], 4),
            "median sure": round(ranked[len(ranked) // 2], 4),
        }


async def check(service, sentences):
    """Send the test set through the running service, two requests under way at a time."""
    worker = asyncio.create_task(service.serve())
    report = Report()
    for pair in zip(sentences, sentences):
        replies = await asyncio.gather(*(service.translate(source) for source, _ in pair))
        for reply, (_, reference) in zip(replies, pair):
            report.add(reply, reference)
    worker.cancel()
    return report
