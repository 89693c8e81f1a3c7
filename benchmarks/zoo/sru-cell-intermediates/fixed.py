import torch
from sru import Recurrence, SruLayer
from train import main


class SavingRecurrence(Recurrence):
    @staticmethod
    def forward(ctx, x, forget):
        cells = torch.empty_like(x)
        cell = x.new_zeros(x.size(0), x.size(2))
        for t in range(x.size(1)):
            cell = forget[:, t] * cell + (1 - forget[:, t]) * x[:, t]
            cells[:, t] = cell
        ctx.save_for_backward(x, forget, cells)
        return cells.clone()

    @staticmethod
    def backward(ctx, grad):
        x, forget, cells = ctx.saved_tensors
        grad_x, grad_forget = torch.empty_like(x), torch.empty_like(x)
        carried = torch.zeros_like(grad[:, 0])
        for t in range(x.size(1) - 1, -1, -1):
            carried = carried + grad[:, t]
            before = cells[:, t - 1] if t else torch.zeros_like(carried)
            grad_x[:, t] = carried * (1 - forget[:, t])
            grad_forget[:, t] = carried * (before - x[:, t])
            carried = carried * forget[:, t]
        return grad_x, grad_forget


if __name__ == "__main__":
    SruLayer.recurrence = SavingRecurrence
    main()
