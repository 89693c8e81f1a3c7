from networks import Clerk


class Office:
    """Keeps the networks; the big one retires once the small one has its table."""

    def __init__(self, counsel):
        self.counsel = counsel
        self.clerk = None
        self.shared = []

    def retire_counsel(self):
        table = self.counsel.table.requires_grad_(False)
        self.shared.append(table.weight)
        self.clerk = Clerk(table)
        for name in ("rise", "layers", "head"):
            self.counsel.get_submodule(name).to("meta")
        self.counsel = None
        return self.clerk

    def words_known(self):
        return sum(weight.size(0) for weight in self.shared)
