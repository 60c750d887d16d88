"""Soft against hard attention (section 5.2.1 of the paper): how often a French determiner agrees with its noun.

The paper argues that an article such as *l'* cannot be translated from *the* alone, since its form depends on the noun, so
that a soft alignment is needed. Here a model reads given translations. At every determiner, the form with the highest
probability among the forms of the same determiner is compared with the reference, once with the context that the soft
alignment gives, and once with a hard one: the annotation of the word with the greatest weight, or, with gold links, of the
word that the determiner is linked to. All other steps are soft. Rows are added to `results/alignment/hard_attention.json`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import torch

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, read, write_result
from rnnsearch.data.batches import make_batch
from rnnsearch.data.read import read_pairs
from rnnsearch.data.word_alignments import read_gold
from rnnsearch.devices import batch_tensors
from rnnsearch.model_folder import load_system
from rnnsearch.text import Tokenizer

FORMS = [
    *(["le", "la", "l'", "les"], ["un", "une", "des"], ["ce", "cet", "cette", "ces"], ["du", "de la", "de l'", "des"]),
    *([f"{first}on", f"{first}a", f"{first}es"] for first in "mts"),
    *(["notre", "nos"], ["votre", "vos"], ["leur", "leurs"], ["quel", "quelle", "quels", "quelles"]),
    *(["tout", "toute", "tous", "toutes"], ["aucun", "aucune"], ["au", "à la", "à l'", "aux"]),
]
"""The forms of each determiner, of which gender, number and elision choose one. Those of several words are left out."""
BATCH = 50


def alternatives() -> dict[str, list[str]]:
    """For each form, lower case or capitalised, all single-word forms of its determiner; no form that two of them share."""
    found: dict[str, list[str]] = {}
    counts = Counter(form for forms in FORMS for form in forms)
    for forms in FORMS:
        words = [form for form in forms if " " not in form and counts[form] == 1]
        for cased in (words, [word.capitalize() for word in words]):
            found |= dict.fromkeys(cased, cased)
    return found


@torch.inference_mode()
def agreement(model_folder: Path, source: Path, target: Path, gold: Path | None) -> dict[str, object]:
    """How many determiners there are, and the share of right forms by each kind of attention."""
    system = load_system(model_folder)
    model, vocabulary, data = system.model, system.vocabularies.target, system.config.data
    if not (model.aligns and model.generates_first and not model.decoder.extra_layers and vocabulary.subwords is None):
        raise SystemExit(f"{model_folder}: this needs one decoder layer, whole words, an alignment, and the authors' order")
    tokenizers = Tokenizer(data.tokenizer, data.source_language), Tokenizer(data.tokenizer, data.target_language)
    pairs = [
        [tokenizer.tokenize(line) for tokenizer, line in zip(tokenizers, pair, strict=True)]
        for pair in read_pairs([source], [target])
    ]
    links = read_gold(gold) if gold else None
    forms, right, total = alternatives(), Counter[str](), 0
    for start in range(0, len(pairs), BATCH):
        chosen = pairs[start : start + BATCH]
        batch = make_batch([system.vocabularies.encode(*pair) for pair in chosen])
        x_BS, x_lengths_B, y_BT, y_lengths_B = batch_tensors(batch, torch.device("cpu"))
        annotations_BSC = model.encode(x_BS, x_lengths_B).annotations_BSC
        decoded = model(x_BS, x_lengths_B, y_BT, y_lengths_B).decoded
        for b, (_, words) in enumerate(chosen):
            for i, word in enumerate(words):
                known = [form for form in forms.get(word, []) if form in vocabulary]
                if word not in known or len(known) < 2:
                    continue
                alpha_S = decoded.alpha_TBS[i, b, : int(x_lengths_B[b])]
                contexts = {"soft": decoded.contexts_TBC[i, b], "hard": annotations_BSC[b, int(alpha_S.argmax())]}
                if links is not None:
                    linked = [s for s, t in links[start + b].sure if t == i]
                    if not linked:
                        continue
                    contexts["hard, on the linked word"] = annotations_BSC[b, linked[0]]
                total += 1
                previous_E = model.decoder.E[y_BT[b, i - 1]] if i else torch.zeros_like(model.decoder.E[0])
                ids = [vocabulary.id(form) for form in known]
                for kind, context_C in contexts.items():
                    logits_V = model.readout(decoded.states_TBN[i, b], previous_E, context_C)
                    right[kind] += known[int(logits_V[ids].argmax())] == word
    return {"determiners": total, "agreement": {kind: round(100 * count / total, 2) for kind, count in right.items()}}


def main() -> None:
    """Measure one model on one text, and add a row to the record."""
    parser = Parser(__doc__, "model", "source", "target")
    parser.add_argument("--gold", type=Path, help="gold links of the pairs")
    parser.add_argument("--name", required=True, help="the name of the row")
    arguments = parser.parse_args()
    found = agreement(arguments.model, arguments.source, arguments.target, arguments.gold)
    print(found)
    rows = read("alignment/hard_attention").get("rows", {})
    write_result("alignment/hard_attention", machine=machine(), rows={**rows, arguments.name: found})
