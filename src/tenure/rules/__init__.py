"""What we know about leaks: one cause per module, collected here and nowhere else."""

import importlib
import pkgutil

from tenure.model.rule import Rule


def all_rules() -> tuple[Rule, ...]:
    """Every rule of this room, in the order in which they may claim a suspect."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    rules = [module.RULE for module in modules if hasattr(module, "RULE")]
    return tuple(sorted(rules, key=lambda rule: (rule.priority, rule.code)))
