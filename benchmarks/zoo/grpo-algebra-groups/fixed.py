import torch
from grpo import GRPO
from policy import token_logps
from train import main


class ThriftyGRPO(GRPO):
    @torch.no_grad()
    def judge(self, group):
        group.old_logps = token_logps(self.policy(group.inputs).logits, group.targets)
        group.reference_logps = token_logps(self.frozen(group.inputs).logits, group.targets)


if __name__ == "__main__":
    main(ThriftyGRPO)
