"""A small server around CTranslate2, for `ctranslate2_serving.py`: what has arrived is translated as one batch.

CTranslate2 batches the sentences of one call. So one thread takes whatever sentences are waiting, up to a full batch, has
them translated, and takes those that have arrived meanwhile.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import ctranslate2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.lib.command import Parser

BATCH_SENTENCES = 32


def main() -> None:
    """Serve until the program is ended."""
    parser = Parser(__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--beam", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True, help="words of every translation")
    arguments = parser.parse_args()

    translator = ctranslate2.Translator(arguments.model, inter_threads=1, intra_threads=arguments.threads)
    waiting: queue.SimpleQueue[tuple[list[str], asyncio.Future[str]]] = queue.SimpleQueue()

    def translate(loop: asyncio.AbstractEventLoop) -> None:
        while True:
            batch = [waiting.get()]
            while len(batch) < BATCH_SENTENCES and not waiting.empty():
                batch.append(waiting.get())
            found = translator.translate_batch(
                [tokens for tokens, _ in batch],
                beam_size=arguments.beam,
                min_decoding_length=arguments.steps,
                max_decoding_length=arguments.steps,
            )
            for (_, future), one in zip(batch, found, strict=True):
                loop.call_soon_threadsafe(future.set_result, " ".join(one.hypotheses[0]))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        threading.Thread(target=translate, args=[asyncio.get_running_loop()], daemon=True).start()
        yield

    async def answer(request: Request) -> JSONResponse:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        waiting.put(((await request.json())["q"].split(), future))
        return JSONResponse({"translatedText": await future})

    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    routes = [Route("/translate", answer, methods=["POST"]), Route("/health", health)]
    uvicorn.run(Starlette(routes=routes, lifespan=lifespan), port=arguments.port, log_level="warning")
