from adversarial import Turns
from judges import judge_loss, map_loss, voice_loss
from torch.nn import functional
from train import main


class ShortTurns(Turns):
    def batch(self, mel, wave):
        fake = self.voice(mel)

        j_loss = judge_loss(*self.judge(wave, fake.detach())[:2])
        self.judge_optimizer.zero_grad()
        j_loss.backward()
        self.judge_optimizer.step()

        _, scores, wanted, given = self.judge(wave, fake)
        v_loss = 45 * functional.l1_loss(fake, wave) + map_loss(wanted, given) + voice_loss(scores)
        self.voice_optimizer.zero_grad()
        v_loss.backward()
        self.voice_optimizer.step()
        return j_loss.item(), v_loss.item()


if __name__ == "__main__":
    main(ShortTurns)
