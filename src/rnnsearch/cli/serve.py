"""`rnnsearch serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rnnsearch.cli.options import Beam, SearchSet, ServedModels, check_inputs, search_settings
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from logging import Logger

    from rnnsearch.serve.incoming import Limits

_Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")]
_Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen on.")]
_MaxCharacters = Annotated[
    int | None,
    typer.Option("--max-characters", min=1, help="The longest text of a request: 5,000; on this computer, no limit."),
]
_MaxSentences = Annotated[
    int | None,
    typer.Option("--max-sentences", min=1, help="Most sentences in a request: 200; on this computer, no limit."),
]
_MaxQueue = Annotated[
    int | None,
    typer.Option(
        "--max-queue",
        min=1,
        help="Most sentences under way: 1,000; on this computer, 50,000. More are refused with status 503.",
    ),
]
_MaxSeconds = Annotated[
    float | None,
    typer.Option("--max-seconds", min=0.1, help="The longest that a request may take: 60; on this computer, no limit."),
]
_Keys = Annotated[
    Path | None, typer.Option("--keys", metavar="FILE", help="API keys, one a line: requests without one are refused.")
]
_Cors = Annotated[
    list[str] | None,
    typer.Option("--cors", metavar="ORIGIN", help="A web site whose pages may call the server; may be repeated."),
]
_Terms = Annotated[
    Path | None,
    typer.Option("--terms", metavar="FILE", help="Source terms and the translations they get, with a tab between."),
]
_Memory = Annotated[
    Path | None,
    typer.Option(
        "--memory", metavar="FOLDER", help="A translation memory: corrections are stored there, and used from then on."
    ),
]
_Processes = Annotated[
    int | None,
    typer.Option("--processes", min=1, help="Processes that search (2 by default); on Linux, they share the models."),
]
_LogText = Annotated[bool, typer.Option("--log-text", help="Write the texts that are translated into the log.")]


def command(
    model: ServedModels = None,
    host: _Host = "127.0.0.1",
    port: _Port = 5000,
    max_characters: _MaxCharacters = None,
    max_sentences: _MaxSentences = None,
    max_queue: _MaxQueue = None,
    max_seconds: _MaxSeconds = None,
    keys: _Keys = None,
    cors: _Cors = None,
    terms: _Terms = None,
    memory: _Memory = None,
    processes: _Processes = None,
    log_text: _LogText = False,
    beam: Beam = None,
    set_: SearchSet = None,
) -> None:
    """Serve translations over HTTP.

    A browser shows a page at the server's address. Programs speak the LibreTranslate protocol with it, to which
    alignments, scores and confidences are added. With several models, of different pairs of languages, it serves them all.
    It stops at Ctrl-C or SIGTERM, after the answers that are under way.

    With --memory, versions of the models that `rnnsearch adapt` makes there are served as soon as they are complete, without
    a restart.

    At the default address, only this computer reaches the server, and there are hardly any limits. Give them if others reach
    it through a web server; at any other address, they have the values named first.
    """
    from rnnsearch.model_catalog import TRANSLATORS, default_model

    models = model or [default_model(name) for name in TRANSLATORS]
    settings = search_settings(False, beam, set_)
    check_inputs(keys, terms, models=models)
    if terms and len(models) > 1:
        raise RnnsearchError(f"{terms}: terms are of one pair of languages, and there are several models; give one")
    accepted = _accepted(keys)

    from functools import partial

    from rnnsearch.memory import Memory
    from rnnsearch.serve.app import make_app
    from rnnsearch.serve.listen import listen
    from rnnsearch.serve.newest import keep_newest, newest
    from rnnsearch.serve.search_processes import SearchProcesses, load_each
    from rnnsearch.serve.server import Server
    from rnnsearch.translation.glossary import read_terms

    given = None if terms is None else read_terms(terms)
    remembered = None if memory is None else Memory(memory)
    log = _log()
    find = partial(newest, models, memory)
    served = find()
    with SearchProcesses(partial(load_each, served), settings, given, processes) as search:
        for one in search.models:
            log.info("%s", one.description)
        limits = _limits(host, max_characters, max_sentences, max_queue, max_seconds)
        server = Server(search, limits, accepted, log_text, remembered)
        app = make_app(server, cors or (), partial(keep_newest, search, served, find))
        listen(app, search, host, port)


def _log() -> Logger:
    """Return the log of the server, after setting up logging for the program."""
    import logging

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # the sender is told of a malformed body
    return logging.getLogger("rnnsearch.serve")


def _limits(host: str, characters: int | None, sentences: int | None, queue: int | None, seconds: float | None) -> Limits:
    """Return the limits of requests; those that are not given have the values that are usual at this address."""
    from rnnsearch.serve.incoming import OWN_LIMITS, Limits
    from rnnsearch.serve.listen import is_loopback

    usual = OWN_LIMITS if is_loopback(host) else Limits()
    return Limits(
        characters or usual.characters, sentences or usual.sentences, queue or usual.queue, seconds or usual.seconds
    )


def _accepted(keys: Path | None) -> list[str]:
    """The API keys of a file."""
    from rnnsearch.data.lines import read_lines

    accepted = [key for line in read_lines(keys) if (key := line.strip())] if keys else []
    if keys and not accepted:
        raise RnnsearchError(f"{keys}: there is no key in it, so nobody could ask; leave --keys out to serve everyone")
    return accepted
