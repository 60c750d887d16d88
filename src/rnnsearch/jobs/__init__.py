"""Jobs: what is done with the rows of a text, in one process or in several, whatever the text's size.

driver     the driver: all that commands and functions on files have in common
shards     a text in shards, a stage that is called on each, and the processes that call it
kept       what is kept of a job until its output is written
processes  processes that end with this one
output     a file that is written whole or not at all, or standard output
"""

from __future__ import annotations

from rnnsearch.jobs.driver import Done, Job, RowStage, job
from rnnsearch.jobs.kept import Kept, Plain, digest_of
from rnnsearch.jobs.shards import Shard, Stage, Workers, cut, default_jobs, numbered

__all__ = [
    "Done", "Job", "Kept", "Plain", "RowStage", "Shard", "Stage", "Workers", "cut", "default_jobs", "digest_of", "job",
    "numbered",
]  # fmt: skip
