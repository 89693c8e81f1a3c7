"""Trains six steps with time between them, in which the recorder's thread looks; argument: what else happens.

The last line is a hash of the result.
"""

import os
import signal
import sys
import threading
import time

what = sys.argv[1] if len(sys.argv) > 1 else ""
late_by = 0
if what == "clock-back":  # before the recorder is loaded: so it has this clock for the system's
    set_time = time.time
    time.time = lambda: set_time() - late_by

import torch  # noqa: E402

LONGER_THAN_A_LOOK = 0.7


def fork_and_train_there(train):
    child = os.fork()
    if child == 0:
        train()
        os._exit(0)
    print("child", os.waitpid(child, 0)[1])


def turn_the_clock_back():
    global late_by
    late_by = 3600


torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train():
    loss = model(torch.randn(2, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item().hex()


for step in range(1, 7):
    print("loss", step, train(), flush=True)
    time.sleep(LONGER_THAN_A_LOOK if step < 4 else 0)
    if step == 2 and what == "close-descriptors":
        os.closerange(3, 4096)
    if step == 2 and what == "fork":
        fork_and_train_there(train)
    if step == 2 and what == "clock-back":
        turn_the_clock_back()
print("threads", threading.active_count())
print("weights", [value.hex() for value in model.weight.flatten().tolist()], flush=True)
if what == "killed":
    time.sleep(2)
    os.kill(os.getpid(), signal.SIGKILL)
