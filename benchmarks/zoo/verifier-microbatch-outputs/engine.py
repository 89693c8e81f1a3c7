import torch


class Engine:
    """Runs an update's micro-batches, each with its own optimizer step, and reports once per update."""

    def __init__(self, actor, optimizer, clip=0.2):
        self.actor, self.optimizer, self.clip = actor, optimizer, clip

    def policy_loss(self, output, micro):
        ratio = (output["log_probs"] - micro["old_log_probs"]).exp()
        bounded = ratio.clamp(1 - self.clip, 1 + self.clip)
        return -torch.minimum(ratio * micro["advantages"], bounded * micro["advantages"]).mean()

    def forward_backward(self, micro):
        model_output = self.actor(micro["tokens"], micro["actions"])
        loss = self.policy_loss(model_output, micro)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "model_output": model_output}

    def update(self, micro_batches):
        outputs = []
        for micro in micro_batches:
            outputs.append(self.forward_backward(micro))
        return self.gather(outputs)

    @staticmethod
    def gather(outputs):
        entropy = torch.cat([output["model_output"]["entropy"].flatten() for output in outputs])
        loss = sum(output["loss"] for output in outputs) / len(outputs)
        return {"loss": loss, "entropy": entropy.mean().item()}
