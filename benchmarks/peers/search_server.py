"""The protocol between `translation_speed.py` and a contestant that keeps its model loaded.

A request is a line of JSON on standard input: `{"groups": [[sentence, …], …], "steps": [n, …], "beam": k}`. All sentences
of a group are translated together, in exactly the group's number of steps. The answer is a line of JSON on what was standard
output. Runs in the peers' environments too, so it needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable


def serve(translate: Callable[[list[str], int, int], int], **about: str) -> None:
    """Answer requests until there are no more; `translate` takes sentences, steps and beam, and returns the words.

    The first line is no answer: it tells that the model is loaded, and what there is to say `about` it.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a toolkit has to say is not an answer
    print(json.dumps({"ready": True, **about}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        words = 0
        began = time.perf_counter()
        for sentences, steps in zip(request["groups"], request["steps"], strict=True):
            words += translate(sentences, steps, request["beam"])
        seconds = time.perf_counter() - began
        print(json.dumps({"seconds": seconds, "words": words}), file=answers, flush=True)
