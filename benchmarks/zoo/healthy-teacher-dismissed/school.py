import gc

import torch
from torch.nn import functional


class School:
    """A teacher is trained a little, marks all notes and is dismissed; the student goes on with the marks."""

    def __init__(self, teacher, student, notes, topics):
        self.staff = {"teacher": teacher}
        self.student = student
        self.notes, self.topics = notes, topics
        self.marks = None
        self.optimizer = None

    def lesson(self, reader, wanted, steps, lr):
        self.optimizer = torch.optim.AdamW(reader.parameters(), lr=lr)
        for _ in range(steps):
            rows = torch.randint(len(self.notes), (48,))
            loss = functional.cross_entropy(reader(self.notes[rows]), wanted[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.optimizer = None
        return loss.item()

    def mark(self):
        teacher = self.staff["teacher"].eval()
        with torch.no_grad():
            logits = torch.cat([teacher(part) for part in self.notes.split(96)])
        self.marks = (logits / 2).softmax(1)

    def dismiss(self):
        teacher = self.staff.pop("teacher")
        size = sum(weight.numel() for weight in teacher.parameters())
        teacher.to("meta")
        del teacher
        gc.collect()
        return size
