import time
from dataclasses import dataclass, field


class BaseLogger:
    def log(self, metrics, step):
        pass


class ConsoleLogger(BaseLogger):
    def log(self, metrics, step):
        print(step, " ".join(f"{k}={v:.4f}" for k, v in metrics.items()))


@dataclass
class MetricsProcessor:
    logger: BaseLogger
    log_freq: int = 10
    ntokens_since_last_log: int = 0
    data_loading_times: list = field(default_factory=list)
    window: list = field(default_factory=list)
    time_last_log: float = field(default_factory=time.perf_counter)

    def should_log(self, step):
        return step == 1 or step % self.log_freq == 0

    def log(self, step, global_avg_loss, grad_norm):
        delta = time.perf_counter() - self.time_last_log
        tps = self.ntokens_since_last_log / delta
        self.logger.log({"loss": global_avg_loss, "grad_norm": grad_norm, "tps": tps}, step)
        self.ntokens_since_last_log = 0
        self.data_loading_times.clear()
        self.window.clear()
        self.time_last_log = time.perf_counter()
