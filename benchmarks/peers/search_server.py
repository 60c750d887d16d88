"""A contestant of `translation_speed.py` or `ctranslate2_serving.py`, which keeps its model loaded and answers requests.

    PYTHON benchmarks/peers/search_server.py PEER MODEL [ARGUMENT ...]

PEER is the folder of a program, such as `joeynmt`: the function `load` of its `search.py`, called with the model and the
arguments, returns a function of sentences, steps and beam, which translates the sentences and returns the number of words.
A request is a line of JSON on standard input: `{"groups": [[sentence, …], …], "steps": [n, …], "beam": k}`. All sentences
of a group are translated together, in exactly the group's number of steps. The answer is a line of JSON on what was standard
output. It runs in the environment of the peer, so it needs nothing but Python.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[2])  # the folders beside this script are no packages


def main() -> None:
    """Load the model, say so in a first line, and answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a toolkit has to say is not an answer
    peer, *arguments = sys.argv[1:]
    translate = importlib.import_module(f"benchmarks.peers.{peer}.search").load(*arguments)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        began = time.perf_counter()
        groups = zip(request["groups"], request["steps"], strict=True)
        words = sum(translate(sentences, steps, request["beam"]) for sentences, steps in groups)
        print(json.dumps({"seconds": time.perf_counter() - began, "words": words}), file=answers, flush=True)


if __name__ == "__main__":
    main()
