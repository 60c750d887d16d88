"""`rnnsearch serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Beam, SearchSet, ServedModels, check_inputs, search_settings
from rnnsearch.errors import RnnsearchError


def command(
    model: ServedModels = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen on.")] = 5000,
    max_characters: Annotated[int, typer.Option("--max-characters", min=1, help="The longest text of a request.")] = 5000,
    max_sentences: Annotated[int, typer.Option("--max-sentences", min=1, help="Most sentences in a request.")] = 200,
    max_queue: Annotated[
        int, typer.Option("--max-queue", min=1, help="Most sentences under way; more are refused with status 503.")
    ] = 1000,
    max_seconds: Annotated[float, typer.Option("--max-seconds", min=0.1, help="The longest that a request may take.")] = 60,
    keys: Annotated[
        Path | None, typer.Option("--keys", metavar="FILE", help="API keys, one a line: requests without one are refused.")
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option("--cors", metavar="ORIGIN", help="A web site whose pages may call the server; may be repeated."),
    ] = None,
    terms: Annotated[
        Path | None,
        typer.Option("--terms", metavar="FILE", help="Source terms and the translations they get, with a tab between."),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", min=1, help="Processes that search (2 by default); each has a copy of the models."),
    ] = None,
    log_text: Annotated[bool, typer.Option("--log-text", help="Write the texts that are translated into the log.")] = False,
    beam: Beam = None,
    set_: SearchSet = None,
) -> None:
    """Serve translations over HTTP.

    A browser shows a page at the server's address. Programs speak the LibreTranslate protocol with it, to which
    alignments, scores and confidences are added. With several models, of different pairs of languages, it serves them all.
    It stops at Ctrl-C or SIGTERM, after the answers that are under way.
    """
    from rnnsearch.data.read import read_lines
    from rnnsearch.model_catalog import TRANSLATORS, default_model

    models = model or [default_model(name) for name in TRANSLATORS]
    settings = search_settings(False, beam, set_)
    check_inputs(keys, terms, models=models)
    if terms and len(models) > 1:
        raise RnnsearchError(f"{terms}: terms are of one pair of languages, and there are several models; give one")
    accepted = [key for line in read_lines(keys) if (key := line.strip())] if keys else []
    if keys and not accepted:
        raise RnnsearchError(f"{keys}: there is no key in it, so nobody could ask; leave --keys out to serve everyone")

    import logging
    from functools import partial

    from rnnsearch.serve.app import Server, make_app
    from rnnsearch.serve.incoming import Limits
    from rnnsearch.serve.listen import listen
    from rnnsearch.serve.search_processes import SearchProcesses, load_each
    from rnnsearch.translation.glossary import read_terms

    given = None if terms is None else read_terms(terms)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    log = logging.getLogger("rnnsearch.serve")
    with SearchProcesses(partial(load_each, models), settings, given, processes) as search:
        for one in search.models:
            log.info("%s", one.description)
        limits = Limits(max_characters, max_sentences, max_queue, max_seconds)
        app = make_app(Server(search, limits, accepted, log_text), cors or ())
        listen(app, search, host, port)
