"""The teacher is fitted and read out to targets; the student is fitted on those."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from nowcast.nets import RainNet


@dataclass
class SoftTargets:
    past: torch.Tensor
    rain: torch.Tensor


class TeacherPhase:
    def __init__(self, archive, protect, steps=6):
        self.archive, self.protect, self.steps = archive, protect, steps

    def run(self):
        teacher = RainNet(self.archive.past, width=128, depth=5)
        optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-3)
        with self.protect("teacher", teacher, optimizer):
            for _ in range(self.steps):
                past, future = self.archive.draw(4)
                loss = F.mse_loss(teacher(past), future)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(f"teacher: mse {loss.item():.4f}")
        return self.read_out(teacher)

    @torch.no_grad()
    def read_out(self, teacher, count=24):
        past, _ = self.archive.draw(count)
        return SoftTargets(past, torch.cat([teacher(part) for part in past.split(8)]))


class StudentPhase:
    def __init__(self, archive, steps=26):
        self.archive, self.steps = archive, steps
        self.student = RainNet(archive.past, width=24, depth=2)
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=2e-3)

    def run(self, targets):
        for step in range(1, self.steps + 1):
            pick = torch.randint(len(targets.past), (8,), generator=self.archive.gen)
            loss = F.mse_loss(self.student(targets.past[pick]), targets.rain[pick])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 8 == 0:
                print(f"student step {step}: mse {loss.item():.5f}")
