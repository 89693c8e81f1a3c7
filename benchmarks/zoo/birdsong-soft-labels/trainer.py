import torch
from torch.nn import functional


class Trainer:
    """The usual loop; what a project needs of its own goes into the methods that start with on_."""

    def __init__(self, model, clips, lr=2e-3, size=32, seed=2):
        self.model, self.clips = model, clips
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.generator = torch.Generator().manual_seed(seed)
        self.size = size

    def on_fit_start(self):
        pass

    def on_step_end(self, step, loss):
        if step % 15 == 0:
            print(step, f"{loss:.4f}")

    def compute_loss(self, mel, species, soft):
        return functional.cross_entropy(self.model(mel), species)

    def fit(self, steps):
        self.on_fit_start()
        for step in range(1, steps + 1):
            loss = self.compute_loss(*self.clips.draw(self.size, self.generator))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.on_step_end(step, loss.item())


class DistillingTrainer(Trainer):
    def __init__(self, model, clips, teacher, alpha=0.7, **options):
        super().__init__(model, clips, **options)
        self.teacher = teacher.eval()
        self.alpha = alpha
        self.temperature = 0.1

    @torch.no_grad()
    def on_fit_start(self):
        """Soft labels of all clips, at the temperature where the teacher is half sure on average."""
        logits = torch.cat([self.teacher(part) for part in self.clips.mel.split(20)])
        logits = logits / logits.std()
        while (logits / self.temperature).softmax(1).amax(1).mean() > 0.5:
            self.temperature *= 1.25
        self.clips.soft = (logits / self.temperature).softmax(1)

    def compute_loss(self, mel, species, soft):
        logits = self.model(mel)
        hard = functional.cross_entropy(logits, species)
        return (1 - self.alpha) * hard + self.alpha * functional.cross_entropy(logits, soft)
