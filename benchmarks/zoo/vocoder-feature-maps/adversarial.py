import torch
from judges import MultiScaleJudge, judge_loss, map_loss, voice_loss
from torch.nn import functional
from vocoder import Vocoder


class Turns:
    """One turn of the judge, then one of the voice, per batch."""

    def __init__(self, lr=2e-4):
        self.voice, self.judge = Vocoder(), MultiScaleJudge()
        self.voice_optimizer = torch.optim.AdamW(self.voice.parameters(), lr, betas=(0.8, 0.99))
        self.judge_optimizer = torch.optim.AdamW(self.judge.parameters(), lr, betas=(0.8, 0.99))

    def batch(self, mel, wave):
        fake = self.voice(mel)

        real_scores, fake_scores, real_maps, fake_maps = self.judge(wave, fake.detach())
        j_loss = judge_loss(real_scores, fake_scores)
        self.judge_optimizer.zero_grad()
        j_loss.backward()
        self.judge_optimizer.step()

        _, scores, wanted, given = self.judge(wave, fake)
        v_loss = 45 * functional.l1_loss(fake, wave) + map_loss(wanted, given) + voice_loss(scores)
        self.voice_optimizer.zero_grad()
        v_loss.backward()
        self.voice_optimizer.step()
        return j_loss.item(), v_loss.item()
