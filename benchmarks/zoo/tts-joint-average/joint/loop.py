"""Joint stage with the waveform head, then a text-only stage."""

import torch
import torch.nn.functional as F


class StagedLoop:
    def __init__(self, text, wave, speech):
        self.text = text
        self.wave = wave
        self.speech = speech
        self.callbacks = []
        self.steps_done = 0

    def _call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *args)

    def _apply(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        self.steps_done += 1
        self._call("on_step", loss.item())
        optimizer.zero_grad()

    def joint_stage(self, steps):
        self._call("on_stage", "joint")
        optimizer = torch.optim.SGD([*self.text.parameters(), *self.wave.parameters()], lr=0.05)
        for _ in range(steps):
            chars, mel, wave = self.speech.draw(6)
            guess = self.text(chars)
            loss = F.l1_loss(guess, mel) + F.l1_loss(self.wave(guess), wave)
            self._apply(optimizer, loss)

    def retire_wave(self):
        """The head is exported on its own; from here on only its shapes are needed."""
        self.wave.to("meta")

    def text_stage(self, steps):
        self._call("on_stage", "text")
        optimizer = torch.optim.Adam(self.text.parameters(), lr=1e-3)
        for _ in range(steps):
            chars, mel, _ = self.speech.draw(16)
            self._apply(optimizer, F.l1_loss(self.text(chars), mel))
