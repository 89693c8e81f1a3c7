import torch
import torch.nn.functional as F


def make_distillation_loss(teacher, temperature=2.0, until_step=5):
    """Soft targets from the teacher for the first steps, hard labels afterwards."""

    def compute(step, x, student_logits, labels):
        hard = F.cross_entropy(student_logits, labels)
        if step >= until_step:
            return hard
        with torch.no_grad():
            soft = F.softmax(teacher(x) / temperature, dim=-1)
        log_student = F.log_softmax(student_logits / temperature, dim=-1)
        return 0.5 * hard + 0.5 * F.kl_div(log_student, soft, reduction="batchmean")

    return compute
