"""Every engine computes what an independent float64 reading of the paper computed.

`RNNSEARCH_CONFORMANCE` names another folder of such vectors, of any sizes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.data.batches import make_batch
from rnnsearch.model import PAPER_NAMES, RNNsearch
from rnnsearch.ops import CpuRecurrences, Recurrences
from rnnsearch.search.backend import Backend
from rnnsearch.search.plain import PlainBackend
from toy import beam_search, onnx_backend

FOLDER = Path(os.environ.get("RNNSEARCH_CONFORMANCE", Path(__file__).parent))
FILES = sorted(FOLDER.glob("*.npz"))
RECURRENCES: list[Callable[[], Recurrences] | None] = [None, CpuRecurrences]
DTYPES = [(torch.float64, 1e-9), (torch.float32, 1e-4)]
STEPS = 12
"""The steps after which the independent search breaks off. Ours goes on with longer sentences, to no other effect before."""


class Vectors:
    """One file of vectors, and a model with its weights."""

    def __init__(self, path: Path, dtype: torch.dtype, engine: Recurrences | None) -> None:
        self.arrays = dict(np.load(path))
        self.dtype = dtype
        architecture, order = path.stem.split("-", 1)
        param = {key.removeprefix("param/"): value for key, value in self.arrays.items() if key.startswith("param/")}
        self.model = RNNsearch(
            ModelConfig(
                embedding_size=param["E_src"].shape[1],
                hidden_size=param["U_fwd"].shape[0],
                alignment_size=len(param["v_a"]) if "v_a" in param else 1,
                maxout_size=len(param["b_o"]) // 2,
                alignment="none" if architecture == "rnnencdec" else "mlp",
                decoder_order=order,
            ),
            len(param["E_src"]),
            len(param["E_tgt"]),
        ).to(dtype)
        self.model.recurrences = engine
        parameters = dict(self.model.named_parameters())
        self.parameters = {PAPER_NAMES[name]: parameter for name, parameter in parameters.items()}
        assert set(self.parameters) == set(param)
        with torch.no_grad():
            for symbol, parameter in self.parameters.items():
                parameter.copy_(torch.from_numpy(param[symbol]))
        self.pairs = sorted({key.split("/")[0] for key in self.arrays if key.startswith("pair")})

    def of(self, pair: str, key: str) -> np.ndarray:
        return self.arrays[f"{pair}/{key}"]

    def batch(self, pairs: list[str]) -> tuple[torch.Tensor, ...]:
        # The vectors' sequences carry the end symbol; make_batch adds it.
        batch = make_batch([(self.of(pair, "x")[:-1], self.of(pair, "y")[:-1]) for pair in pairs])
        arrays = (batch.source_BS, batch.source_lengths_B, batch.target_BT, batch.target_lengths_B)
        return tuple(torch.from_numpy(array) for array in arrays)


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module", params=RECURRENCES, ids=["reference", "fused"])
def engine(request: pytest.FixtureRequest) -> Recurrences | None:
    return request.param() if request.param else None


@pytest.fixture(scope="module", params=DTYPES, ids=lambda param: str(param[0]).removeprefix("torch."))
def case(request: pytest.FixtureRequest, path: Path, engine: Recurrences | None) -> tuple[Vectors, float]:
    dtype, tolerance = request.param
    return Vectors(path, dtype, engine), tolerance


def groupings(pairs: list[str]) -> list[list[str]]:
    """All pairs at once, padded; and each by itself."""
    return [pairs, *([pair] for pair in pairs)]


def test_there_are_vectors() -> None:
    assert FILES, f"no .npz file in {FOLDER}"


def test_forward(case: tuple[Vectors, float]) -> None:
    vectors, tolerance = case
    model = vectors.model
    for pairs in groupings(vectors.pairs):
        x, x_lengths, y, y_lengths = vectors.batch(pairs)
        with torch.no_grad():
            source = model.encode(x, x_lengths)
            output = model(x, x_lengths, y, y_lengths)
            log_p_PV = torch.log_softmax(output.logits_PV, -1)
        for b, pair in enumerate(pairs):
            Tx, Ty = int(x_lengths[b]), int(y_lengths[b])

            def close(ours: torch.Tensor, key: str, pair: str = pair) -> None:
                expected = vectors.of(pair, key)
                assert tuple(ours.shape) == expected.shape, (pair, key)
                np.testing.assert_allclose(ours.numpy(), expected, rtol=0, atol=tolerance, err_msg=f"{pair} {key}")

            close(source.annotations_BSC[b, :Tx], "annotations")
            close(output.decoded.states_TBN[: Ty + 1, b], "states")
            if output.decoded.alpha_TBS is not None:
                close(output.decoded.alpha_TBS[:Ty, b, :Tx], "alignment")
                assert (output.decoded.alpha_TBS[:Ty, b, Tx:] == 0).all(), "attention reaches into the padding"
            of_pair = output.sentences_P == b
            close(log_p_PV[of_pair], "distributions")
            words = output.words_P[of_pair]
            close(log_p_PV[of_pair].gather(1, words.unsqueeze(1)).squeeze(1), "log_probs")


def test_nll_and_every_derivative(case: tuple[Vectors, float]) -> None:
    vectors, tolerance = case
    count = len(vectors.pairs)
    for grouping in ([vectors.pairs], [[pair] for pair in vectors.pairs]):
        vectors.model.zero_grad()
        total = 0.0
        for pairs in grouping:
            output = vectors.model(*vectors.batch(pairs))
            nll = torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="sum") / count
            nll.backward()
            total += float(nll.detach())
        assert total == pytest.approx(float(vectors.arrays["nll"]), abs=tolerance * 10, rel=tolerance)
        for symbol, parameter in vectors.parameters.items():
            direction = torch.from_numpy(vectors.arrays[f"direction/{symbol}"]).to(vectors.dtype)
            assert parameter.grad is not None, symbol
            derivative = float((parameter.grad * direction).sum())
            expected = float(vectors.arrays[f"derivative/{symbol}"])
            assert derivative == pytest.approx(expected, abs=tolerance, rel=tolerance), symbol


@pytest.mark.parametrize("backend", [PlainBackend, onnx_backend])
@pytest.mark.parametrize(("key", "forbid_unk"), [("beam3", False), ("beam3_nounk", True)])
def test_beam_search(
    case: tuple[Vectors, float], backend: Callable[[RNNsearch], Backend], key: str, forbid_unk: bool
) -> None:
    vectors, tolerance = case
    for pairs in groupings(vectors.pairs):
        sources = [vectors.of(pair, "x")[:-1].tolist() for pair in pairs]
        enough = (STEPS + 0.5) / (1 + min(map(len, sources)))
        config = SearchConfig(beam=3, length_normalization=0.0, forbid_unk=forbid_unk, maximum_length_ratio=enough)
        results = beam_search(backend(vectors.model), sources, config)
        for pair, hypotheses in zip(pairs, results, strict=True):
            best, scores = vectors.of(pair, f"{key}_best"), vectors.of(pair, f"{key}_scores")
            finished = [one for one in hypotheses if one.finished and len(one.words) < STEPS]
            if len(scores) == 0 or list(best) == [-1]:
                assert not finished
                continue
            limit = 1e-5 if backend is onnx_backend else tolerance * 10  # the graphs are in float32
            np.testing.assert_allclose([h.score for h in finished], scores, rtol=0, atol=limit)
            assert finished[0].words == list(best)
