"""Jobs, which apply a stage to the rows of a text of any size, in one process or in several.

driver     the driver, which all commands and functions on files use
shards     the division of a text into shards, and the processes that call a stage on each
kept       the checkpoint of a job, which exists until its output is written
processes  child processes that end with their parent
output     the output: a file that is written atomically, or standard output
"""

from __future__ import annotations

from rnnsearch.jobs.checkpoint import JobCheckpoint, Json, digest_of
from rnnsearch.jobs.driver import Done, Job, RowStage, job
from rnnsearch.jobs.shards import Shard, Stage, Workers, cut, default_jobs, numbered

__all__ = [
    "Done", "Job", "JobCheckpoint", "Json", "RowStage", "Shard", "Stage", "Workers", "cut", "default_jobs", "digest_of",
    "job", "numbered",
]  # fmt: skip
