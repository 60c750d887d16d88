"""The child process of `tokenize_lines`: reads rows of lines, answers with their words, until its input ends.

A request is one line of JSON, `[[source line, target line], …]`, and so is the answer to it, with the words
of every line between spaces.
"""

from __future__ import annotations

import json
import sys

from rnnsearch.text.tokenize import Tokenizer


def main() -> None:
    """Serve requests; the first argument is JSON too: kind and language of the tokeniser of each column."""
    tokenizers = [Tokenizer(kind, language) for kind, language in json.loads(sys.argv[1])]
    for request in sys.stdin.buffer:
        answer = [
            [" ".join(tokenizer.tokenize(line)) for tokenizer, line in zip(tokenizers, row, strict=True)]
            for row in json.loads(request)
        ]
        try:
            sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:  # the parent is gone
            return


if __name__ == "__main__":
    main()
