"""The alignment layer learns links, leaves translations as they are, and links words for everything that asks for links."""

from __future__ import annotations

import json
import pickle
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rnnsearch as package
from command_line import Run
from rnnsearch.data.batches import make_batch
from rnnsearch.data.word_alignments import Links, to_pharaoh
from rnnsearch.devices import batch_tensors
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import AlignmentLayer
from rnnsearch.model_files import ALIGNMENT_LAYER, WEIGHTS
from rnnsearch.model_folder import export_model, load_system, save_alignment_layer
from rnnsearch.training.alignment_layer import AlignmentLayerTraining, LinkedPair
from rnnsearch.translation import Translator
from rnnsearch.translation.alignments import links_by_words
from rnnsearch.translation.lexicon import LinkCounter
from toy import ADJECTIVES, DETERMINERS, NOUNS, OTHERS, VERBS, toy_pairs

subword_counts = st.lists(st.integers(1, 3), min_size=1, max_size=5)
DICTIONARY = DETERMINERS | ADJECTIVES | NOUNS | VERBS | OTHERS


def linked(source: str, target: str) -> LinkedPair:
    """The pair with its links: words that translate each other are in the same order on both sides."""
    places: dict[tuple[str, int], int] = {}
    seen: Counter[str] = Counter()
    for place, word in enumerate(target.split()):
        places[word, seen[word]] = place
        seen[word] += 1
    seen.clear()
    links = set()
    for place, word in enumerate(source.split()):
        translation = DICTIONARY.get(word, word)
        links.add((place, places[translation, seen[translation]]))
        seen[translation] += 1
    return LinkedPair.of(source.split(), target.split(), frozenset(links))


LEARNED = [linked(*pair) for pair in toy_pairs(300, seed=21)]
UNSEEN = [linked(*pair) for pair in toy_pairs(60, seed=22)]


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a trained model, with an alignment layer."""
    copy = tmp_path_factory.mktemp("linked") / "model"
    shutil.copytree(model_folder("mlp"), copy)
    save_alignment_layer(copy, AlignmentLayerTraining(load_system(copy), LEARNED).run())
    return copy


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return package.load(folder)


def errors(found: list[Links | None]) -> int:
    """The number of links that are missing or wrong."""
    return sum(len((links or frozenset()) ^ pair.links.keys()) for links, pair in zip(found, UNSEEN, strict=True))


@pytest.mark.slow
def test_it_links_words_better_than_attention(translator: Translator, trained: Callable[..., Translator]) -> None:
    sources, targets = [pair.source for pair in UNSEEN], [pair.target for pair in UNSEEN]
    by_layer, by_attention = (
        errors([one.links for one in each.score_words(sources, targets)]) for each in (translator, trained("gated", "mlp"))
    )
    assert by_layer < 0.1 * sum(len(pair.links) for pair in UNSEEN)
    assert by_layer < by_attention / 2


@pytest.mark.slow
def test_translations_and_scores_stay_as_they_are(translator: Translator, trained: Callable[..., Translator]) -> None:
    lines = [" ".join(pair.source) for pair in UNSEEN]
    before, after = trained("gated", "mlp").n_best(lines, 2), translator.n_best(lines, 2)
    for pair in zip(before, after, strict=True):
        for one, other in zip(*pair, strict=True):
            assert (one.text, one.score) == (other.text, other.score)
            assert np.array_equal(one.alignment, other.alignment)


@pytest.mark.slow
def test_links_of_a_translation_are_those_of_the_same_pair_given(translator: Translator) -> None:
    for pair in UNSEEN[:20]:
        translation = translator.translate(" ".join(pair.source))
        given_pair = translator.score_words([pair.source], [translation.tokens])[0]
        assert translation.links == given_pair.links
        assert translation.to_dict()["links"] == given_pair.to_dict()["links"]
        again = pickle.loads(pickle.dumps(translation))
        assert again.links == translation.links
        assert again.linker is None


@pytest.mark.slow
def test_a_long_line_has_the_links_of_its_segments(translator: Translator) -> None:
    line = " ".join(" ".join(pair.source) for pair in UNSEEN[:8])
    translation = translator.translate(line, max_segment=25)
    assert len(translation.segments) > 1
    shifted = {
        (source + one.source_start, target + one.target_start)
        for one in translation.segments
        for source, target in translator.score_words([one.source_tokens], [one.tokens])[0].links or ()
    }
    assert translation.links == shifted


@pytest.mark.slow
def test_empty_lines_have_no_links(translator: Translator) -> None:
    assert translator.translate("").links == frozenset()
    assert translator.score_words([["the"], []], [[], ["le"]])[0].links == frozenset()


@pytest.mark.slow
def test_an_unknown_word_is_replaced_by_the_word_that_it_is_linked_to(translator: Translator) -> None:
    found = [translator.translate(" ".join(pair.source), replace_unk=True, forbid_unk=False) for pair in UNSEEN]
    replacements = 0
    for one in found:
        assert one.link_probabilities is not None
        for replacement in one.replacements:
            assert replacement.source == one.link_probabilities[replacement.target].argmax()
            replacements += 1
    assert replacements > 5


@pytest.mark.slow
def test_the_lexicon_counts_its_links(translator: Translator) -> None:
    counter = LinkCounter(translator.system)
    counter.add([pair.source for pair in UNSEEN], [pair.target for pair in UNSEEN])
    assert all(counter.counts[word].most_common(1)[0][0] == DICTIONARY[word] for word in NOUNS)


@pytest.mark.slow
def test_the_same_pairs_make_the_same_layer(trained: Callable[..., Translator]) -> None:
    seen: list[int] = []
    trainings = [AlignmentLayerTraining(trained("gated", "mlp").system, LEARNED[:50]) for _ in range(2)]
    one, other = (training.run(seen.append) for training in trainings)
    assert one.alignment_layer is not None
    assert other.alignment_layer is not None
    for a, b in zip(one.alignment_layer.parameters(), other.alignment_layer.parameters(), strict=True):
        assert torch.equal(a, b)
    assert sum(seen) == sum(training.updates for training in trainings)


@pytest.mark.slow
def test_pairs_that_are_too_long_or_empty_are_passed_over(trained: Callable[..., Translator]) -> None:
    system = trained("gated", "mlp").system
    odd = [LinkedPair(["the"] * 1000, ["le"], {}), LinkedPair([], ["le"], {}), LinkedPair(["the"], [], {})]
    one, other = (AlignmentLayerTraining(system, pairs).run() for pairs in ([*odd, *LEARNED[:20]], LEARNED[:20]))
    assert one.alignment_layer is not None
    assert other.alignment_layer is not None
    assert torch.equal(one.alignment_layer.W_l, other.alignment_layer.W_l)


@given(seed=st.integers(0, 2**31))
@settings(max_examples=20)
def test_links_depend_neither_on_other_pairs_nor_on_what_is_undefined(trained: Callable[..., Translator], seed: int) -> None:
    system = trained("gated", "mlp").system
    layer = AlignmentLayer(system.model)
    layer.initialize(seed)
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 12, (4, 2))
    pairs = [(random.integers(3, 20, S).tolist(), random.integers(3, 20, T).tolist()) for S, T in lengths]
    batch = batch_tensors(make_batch(pairs), torch.device("cpu"))
    with torch.no_grad():
        together = system.model(*batch)
        for steps in (together.decoded.states_TBN[1:], together.decoded.alpha_TBS):
            past = torch.arange(len(steps)).unsqueeze(1) >= batch[3]
            steps[past] = torch.nan
        together.source.annotations_BSC[~together.source.mask_BS] = torch.nan
        logits_BTS = layer(system.model, together, *batch)
        for b, pair in enumerate(pairs):
            alone = batch_tensors(make_batch([pair]), torch.device("cpu"))
            logits_1TS = layer(system.model, system.model(*alone), *alone)
            S, T = len(pair[0]), len(pair[1])
            torch.testing.assert_close(logits_BTS[b, :T, :S], logits_1TS[0, :T, :S], atol=1e-4, rtol=1e-4)


@given(sources=subword_counts, targets=subword_counts, reverse=st.booleans())
def test_probabilities_of_words_are_means_over_their_subwords(sources: list[int], targets: list[int], reverse: bool) -> None:
    source_word_ids, target_word_ids = (np.repeat(np.arange(len(counts)), counts) for counts in (sources, targets))
    of_words = np.random.default_rng(0).random((len(targets), len(sources)), np.float32)
    of_subwords = of_words[np.ix_(target_word_ids, source_word_ids)]
    if reverse:
        of_subwords, target_word_ids = of_subwords[::-1], target_word_ids[::-1]
    found = links_by_words(of_subwords, target_word_ids.tolist(), source_word_ids.tolist())
    np.testing.assert_allclose(found, of_words, rtol=1e-5)


@pytest.mark.slow
def test_a_copy_takes_it_along_and_another_model_refuses_it(
    folder: Path, trained: Callable[..., Translator], tmp_path: Path
) -> None:
    export_model(folder, tmp_path / "int8", "int8")
    pair = UNSEEN[0]
    exported = package.load(tmp_path / "int8").score_words([pair.source], [pair.target])[0]
    assert exported.links == pair.links.keys()
    sent = pickle.loads(pickle.dumps(package.load(folder)))
    assert sent.score_words([pair.source], [pair.target])[0].links == pair.links.keys()
    other = tmp_path / "other"
    lstm = trained("lstm", "mlp").folder
    assert lstm is not None
    shutil.copytree(lstm, other)
    shutil.copy(folder / ALIGNMENT_LAYER, other)
    with pytest.raises(RnnsearchError, match=ALIGNMENT_LAYER):
        load_system(other)
    (other / ALIGNMENT_LAYER).write_bytes((folder / ALIGNMENT_LAYER).read_bytes()[:-5])
    with pytest.raises(RnnsearchError, match=ALIGNMENT_LAYER):
        load_system(other)


def written(place: Path, pairs: list[LinkedPair]) -> tuple[Path, Path, Path]:
    """The files of these pairs and of their links."""
    paths = place / "text.en", place / "text.fr", place / "text.links"
    for path, lines in zip(
        paths,
        zip(*((" ".join(one.source), " ".join(one.target), to_pharaoh(one.links)) for one in pairs), strict=True),
        strict=True,
    ):
        path.write_text("".join(f"{line}\n" for line in lines))
    return paths


@pytest.mark.parametrize("given_links", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_command_learns_it_and_other_commands_use_it(
    rnnsearch: Run, model_folder: Callable[[str], Path], tmp_path: Path, given_links: bool
) -> None:
    model = tmp_path / "model"
    shutil.copytree(model_folder("mlp"), model)
    weights = (model / WEIGHTS).read_bytes()
    source, target, links = written(tmp_path, LEARNED[:200] + UNSEEN)
    options = ["--links", links] if given_links else []
    done = rnnsearch("learn-links", "--model", model, "--source", source, "--target", target, *options)
    assert (done.status, done.err) == (0, "")
    rates = [float(line.split()[-1]) for line in done.out.splitlines()[2:]]
    assert rates[1] < rates[0]
    assert (model / WEIGHTS).read_bytes() == weights
    aligned = rnnsearch("align", "--model", model, "--source", source, "--target", target).out.splitlines()
    right = sum(line == wanted for line, wanted in zip(aligned, links.read_text().splitlines(), strict=True))
    assert right > (0.7 if given_links else 0.5) * len(aligned)
    first, its_target, _ = written(tmp_path, LEARNED[:10])
    as_json = rnnsearch("align", "--model", model, "--source", first, "--target", its_target, "--format", "json").out
    assert to_pharaoh((s, t) for s, t, _ in json.loads(as_json.splitlines()[0])["links"]) == aligned[0]
    translated = rnnsearch("translate", "--model", model, first, "--format", "json").out.splitlines()
    pharaoh = rnnsearch("translate", "--model", model, first, "--format", "pharaoh").out.splitlines()
    assert to_pharaoh((s, t) for s, t, _ in json.loads(translated[0])["links"]) == pharaoh[0]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("0-0\n", "1 lines for 3 pairs"),
        ("0-0\n0-99\n0-0\n", r"text.links:2: link 0-99"),
        ("0-0\nx\n0-0\n", "text.links:2: 'x'"),
    ],
)
def test_wrong_links_get_a_line(
    rnnsearch: Run, model_folder: Callable[[str], Path], tmp_path: Path, wrong: str, reason: str
) -> None:
    source, target, links = written(tmp_path, UNSEEN[:3])
    links.write_text(wrong)
    model = model_folder("mlp")
    done = rnnsearch("learn-links", "--model", model, "--source", source, "--target", target, "--links", links)
    assert done.status == 2
    assert reason in done.err
    assert not (model / ALIGNMENT_LAYER).exists()


@pytest.mark.slow
def test_where_nothing_can_be_learned_the_layer_stays(rnnsearch: Run, folder: Path, tmp_path: Path) -> None:
    before = (folder / ALIGNMENT_LAYER).read_bytes()
    source, target, _ = written(tmp_path, [LinkedPair([], ["le"], {})])
    done = rnnsearch("learn-links", "--model", folder, "--source", source, "--target", target)
    assert (done.status, done.out) == (2, "")
    assert "none of the 1 pairs can be learned from" in done.err
    assert (folder / ALIGNMENT_LAYER).read_bytes() == before


def test_a_model_without_alignment_is_refused(rnnsearch: Run, model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    source, target, _ = written(tmp_path, UNSEEN[:3])
    done = rnnsearch("learn-links", "--model", model_folder("none"), "--source", source, "--target", target)
    assert done.status == 2
    assert "RNNencdec" in done.err
