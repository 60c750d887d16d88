"""The model whole: its equations, its two ways through them, its initial weights and the names of its tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from products import every_pair
from rnnsearch.config import ModelConfig, TrainingConfig, from_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import PAPER_NAMES, RNNsearch
from rnnsearch.model.embedding import read_words
from rnnsearch.training.cost import training_cost
from toy import ALIGNMENTS, CELLS, ORDERS, batch_of, models_more, random_model, random_pairs

VX, VY = 8, 7
seeds = st.integers(0, 2**31)


def config_of(cell: str = "gated", alignment: str = "mlp", order: str = ORDERS[0], **more: Any) -> ModelConfig:
    return ModelConfig(
        embedding_size=3,
        hidden_size=4,
        alignment_size=5,
        maxout_size=2,
        alignment=alignment,
        cell=cell,
        decoder_order=order,
        **more,
    )


every_model = pytest.mark.parametrize(
    ("cell", "alignment", "order"),
    every_pair(CELLS, ALIGNMENTS, ORDERS),
)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def literal(model: RNNsearch, x: list[int], y: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Appendix A.2, a word at a time, for one pair with its end symbols: distributions and alignments."""
    by_symbol = {PAPER_NAMES[name]: tensor.detach().numpy() for name, tensor in model.named_parameters()}

    def unit(suffix: str, s: np.ndarray, e: np.ndarray, c: np.ndarray | None) -> np.ndarray:
        p = {name: by_symbol.get(f"{name}_{suffix}") for name in ("W", "Wz", "Wr", "U", "Uz", "Ur", "C", "Cz", "Cr", "b")}
        of_c = {gate: 0 if c is None else p[f"C{gate}"] @ c for gate in ("", "z", "r")}
        z = sigmoid(p["Wz"] @ e + p["Uz"] @ s + of_c["z"])
        r = sigmoid(p["Wr"] @ e + p["Ur"] @ s + of_c["r"])
        return (1 - z) * s + z * np.tanh(p["W"] @ e + p["U"] @ (r * s) + of_c[""] + p["b"])

    n = model.config.hidden_size
    forwards, backwards = [], []
    state = np.zeros(n)
    for word in x:
        state = unit("fwd", state, by_symbol["E_src"][word], None)
        forwards.append(state)
    if model.aligns:
        state = np.zeros(n)
        for word in reversed(x):
            state = unit("bwd", state, by_symbol["E_src"][word], None)
            backwards.insert(0, state)
        h = [np.concatenate(pair) for pair in zip(forwards, backwards, strict=True)]
        summary = backwards[0]
    else:
        h, summary = forwards, forwards[-1]

    s = np.tanh(by_symbol["W_s"] @ summary + by_symbol["b_s"])
    previous = np.zeros(model.config.embedding_size)
    distributions, alignments = [], []
    for word in y:
        if model.aligns:
            energies = np.array([by_symbol["v_a"] @ np.tanh(by_symbol["W_a"] @ s + by_symbol["U_a"] @ h_j) for h_j in h])
            alpha = np.exp(energies) / np.exp(energies).sum()
            alignments.append(alpha)
            c = sum(weight * h_j for weight, h_j in zip(alpha, h, strict=True))
        else:
            c = summary
        if not model.generates_first:
            s = unit("dec", s, previous, c)
        t = by_symbol["U_o"] @ s + by_symbol["V_o"] @ previous + by_symbol["C_o"] @ c + by_symbol["b_o"]
        maxout = np.array([max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])
        logits = by_symbol["W_o"] @ maxout + by_symbol["b_w"]
        distributions.append(np.exp(logits) / np.exp(logits).sum())
        previous = by_symbol["E_tgt"][word]
        if model.generates_first:
            s = unit("dec", s, previous, c)
    return distributions, alignments


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("alignment", ALIGNMENTS)
@settings(max_examples=8)
@given(lengths=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=3), seed=seeds)
def test_appendix_a(alignment: str, order: str, lengths: list[tuple[int, int]], seed: int) -> None:
    model = random_model(config_of("gated", alignment, order), VX, VY, seed)
    pairs = random_pairs(seed, lengths, VX, VY)
    with torch.no_grad():
        output = model(*batch_of(pairs))
        p = torch.softmax(output.logits_PV, -1).numpy()
    for b, (x, y) in enumerate(pairs):
        distributions, alignments = literal(model, [*x, 0], [*y, 0])
        np.testing.assert_allclose(p[(output.sentences_P == b).numpy()], distributions, rtol=0, atol=1e-12)
        assert output.words_P[output.sentences_P == b].tolist() == [*y, 0]
        if alignments:
            assert output.decoded.alpha_TBS is not None
            found = output.decoded.alpha_TBS[: len(y) + 1, b, : len(x) + 1].numpy()
            np.testing.assert_allclose(found, alignments, rtol=0, atol=1e-12)
        else:
            assert output.decoded.alpha_TBS is None


@every_model
@settings(max_examples=8)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4),
    hypotheses=st.integers(1, 3),
    more=models_more,
    seed=seeds,
)
def test_a_word_at_a_time_is_all_at_once(
    cell: str,
    alignment: str,
    order: str,
    lengths: list[tuple[int, int]],
    hypotheses: int,
    more: dict[str, Any],
    seed: int,
) -> None:
    """`predict` and `advance`, with branching and dropped sentences, give what `forward` gives of each hypothesis."""
    model = random_model(config_of(cell, alignment, order, **more), VX, VY, seed)
    pairs = random_pairs(seed, lengths, VX, VY)
    random = np.random.default_rng(seed)
    x, x_lengths, _, _ = batch_of(pairs)
    sentences = list(range(len(pairs)))
    with torch.no_grad():
        source = model.encode(x, x_lengths)
        now = model.start(source)
        prefixes: list[list[list[int]]] = [[[]] for _ in pairs]
        for _ in range(4):
            step = model.predict(now, source)
            for row, sentence in enumerate(sentences):
                for k, prefix in enumerate(prefixes[row]):
                    words = pairs[sentence][0]
                    output = model(*batch_of([(words, prefix)]))
                    expected = torch.log_softmax(output.logits_PV[-1], -1)
                    torch.testing.assert_close(step.log_p_BKV[row, k], expected, rtol=0, atol=1e-11)
                    if step.alpha_BKS is not None:
                        alpha = step.alpha_BKS[row, k]
                        expected = output.decoded.alpha_TBS[len(prefix), 0, : len(words) + 1]
                        torch.testing.assert_close(alpha[: len(expected)], expected, rtol=0, atol=1e-11)
                        assert (alpha[len(expected) :] == 0).all()
            rows = sorted(random.choice(len(sentences), random.integers(1, len(sentences) + 1), replace=False).tolist())
            parents = random.integers(0, len(prefixes[0]), (len(rows), hypotheses))
            words = random.integers(0, VY, (len(rows), hypotheses))
            now = model.advance(step, torch.tensor(rows), torch.from_numpy(parents), torch.from_numpy(words))
            source = source.select(torch.tensor(rows))
            sentences = [sentences[row] for row in rows]
            prefixes = [
                [[*prefixes[row][parents[i, k]], int(words[i, k])] for k in range(hypotheses)] for i, row in enumerate(rows)
            ]


def test_no_dropout_unless_asked() -> None:
    model = random_model(config_of(), VX, VY, 0)
    batch = batch_of(random_pairs(0, [(3, 4), (1, 2)], VX, VY))
    model.train()
    with torch.no_grad():
        plain = model(*batch).logits_PV
        assert torch.equal(model(*batch).logits_PV, plain)
        assert not torch.equal(model(*batch, dropout=0.5).logits_PV, plain)


def test_word_dropout_leaves_out_whole_words() -> None:
    torch.manual_seed(1)
    E = torch.randn(7, 5, requires_grad=True)
    ids = torch.randint(7, (300, 4))
    x = read_words(ids, E, word_dropout=0.25)
    left_out = (x == 0).all(-1)
    assert 0.2 < float(left_out.double().mean()) < 0.3
    torch.testing.assert_close(x[~left_out], E[ids][~left_out] / 0.75)
    x.sum().backward()
    assert E.grad is not None
    torch.testing.assert_close(E.grad[:, 0], torch.bincount(ids[~left_out], minlength=7) / 0.75)
    assert torch.equal(read_words(ids, E), E[ids])


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_names_and_symbols_are_one_to_one(alignment: str) -> None:
    names = [name for name, _ in RNNsearch(config_of("gated", alignment), VX, VY).named_parameters()]
    symbols = [PAPER_NAMES[name] for name in names]
    assert len(set(symbols)) == len(names)
    assert len(set(PAPER_NAMES.values())) == len(PAPER_NAMES)
    if alignment == "mlp":
        assert set(names) == set(PAPER_NAMES), "a symbol in the table that no tensor has"


@every_model
@pytest.mark.parametrize("scheme", ["paper", "glorot"])
def test_initial_weights_depend_on_the_seed_alone(cell: str, alignment: str, order: str, scheme: str) -> None:
    first, second, other = (RNNsearch(config_of(cell, alignment, order), VX, VY) for _ in range(3))
    torch.manual_seed(1)
    first.initialize(scheme, 5)
    torch.manual_seed(2)
    second.initialize(scheme, 5)
    other.initialize(scheme, 6)
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, second.get_parameter(name)), name
    assert not torch.equal(first.encoder.E, other.encoder.E)
    assert not torch.equal(first.encoder.forward_cell.get_parameter("U"), first.decoder.cell.get_parameter("U"))


@pytest.mark.parametrize("cell", CELLS)
def test_initial_weights_of_the_paper(cell: str) -> None:
    """Appendix B.1."""
    config = ModelConfig(embedding_size=70, hidden_size=60, alignment_size=80, maxout_size=50, cell=cell)
    model = RNNsearch(config, 90, 100)
    model.initialize("paper", 1)
    for name, parameter in model.requires_grad_(False).named_parameters():
        leaf = name.rsplit(".", 1)[1]
        if leaf == "b_f":
            assert (parameter == 1).all(), name
        elif leaf == "v_a" or leaf.startswith("b"):
            assert (parameter == 0).all(), name
        elif leaf.startswith("U") and "cell" in name:
            unit = parameter @ parameter.T
            torch.testing.assert_close(unit, torch.eye(60), rtol=0, atol=1e-5, msg=name)
        else:
            expected = 0.001 if leaf in ("W_a", "U_a") else 0.01
            assert float(parameter.std()) == pytest.approx(expected, rel=0.1), name
            assert abs(float(parameter.mean())) < expected / 10, name


def test_initial_weights_of_glorot_have_a_gradient_everywhere() -> None:
    """With v_a zero, as in the paper, the alignment model would have none at first."""
    model = RNNsearch(config_of(), VX, VY)
    model.initialize("glorot", 1)
    output = model(*batch_of(random_pairs(0, [(4, 4), (5, 5)], VX, VY)))
    torch.nn.functional.cross_entropy(output.logits_PV, output.words_P).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert float(parameter.grad.abs().sum()) > 0, name


def test_count_parameters_of_the_papers_model() -> None:
    """By appendix A's shapes."""
    m, n, aligned, maxout, K = 620, 1000, 1000, 500, 30000
    with torch.device("meta"):
        model = RNNsearch(ModelConfig(), K, K)
    encoder = K * m + 2 * (3 * (n * m + n * n) + n)
    decoder = K * m + n * n + n + 3 * (n * m + n * n + n * 2 * n) + n + aligned * n + aligned * 2 * n + aligned
    readout = 2 * maxout * (n + m + 2 * n + 1) + K * maxout + K
    assert model.count_parameters() == encoder + decoder + readout


def test_a_tied_embedding_is_one_matrix_with_both_gradients() -> None:
    sizes = {"embedding_size": 6, "maxout_size": 6, "hidden_size": 5, "alignment_size": 4}
    tied = random_model(ModelConfig(**sizes, tied_embedding=True), VX, VY, 1)
    untied = random_model(ModelConfig(**sizes), VX, VY, 2)
    with torch.no_grad():
        for name, parameter in tied.named_parameters():
            untied.get_parameter(name).copy_(parameter)
        untied.readout.W_o.copy_(tied.decoder.E)
    assert "readout.W_o" not in dict(tied.named_parameters())
    assert tied.count_parameters() == untied.count_parameters() - 6 * VY
    tied.sparse_gradients(True)
    untied.sparse_gradients(False)
    batch = batch_of(random_pairs(0, [(4, 4), (5, 5)], VX, VY))
    config = TrainingConfig(label_smoothing=0.1)
    for model in (tied, untied):
        training_cost(model(*batch), 1, config)[0].backward()
    together = untied.decoder.E.grad + untied.readout.W_o.grad
    torch.testing.assert_close(tied.decoder.E.grad, together, rtol=1e-10, atol=1e-12)


def test_a_tied_embedding_needs_equal_sizes() -> None:
    with pytest.raises(RnnsearchError, match=r"maxout_size \(500\) to be model.embedding_size \(620\)"):
        from_dict({"model": {"tied_embedding": True}})
