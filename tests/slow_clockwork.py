"""The command line with an engine that trains nothing and takes its time."""

import time

from engine_support import Clockwork, ClockworkTrained

from humboldt import cli
from humboldt.core.events import AbstractSink, Progress
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import catalogue
from humboldt.training.base import Job


class SlowClockwork(Clockwork):
    """A training of five steps."""

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> ClockworkTrained:
        for step in range(1, 6):
            time.sleep(0.02)
            sink.send(Progress("training", 100 * step, 500, "loss 0.693, accuracy 50.1%"))
        return super().train(job, checkpoints, sink)


if __name__ == "__main__":
    catalogue.engine_of = lambda contender: SlowClockwork()
    cli.main()
