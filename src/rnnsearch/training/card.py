"""The model card: a model folder's README."""

from __future__ import annotations

from typing import Any

from rnnsearch.system import System


def model_card(system: System, record: dict[str, Any]) -> str:
    """Return the model card as Markdown: what the model is, what it was trained on, how good it is, and how to use it."""
    data, model = system.config.data, system.config.model
    kind = "RNNsearch" if system.aligns else "RNNencdec"
    pairs = zip(record["data"]["source_files"], record["data"]["target_files"], strict=True)
    files = ", ".join(f"`{source['name']}` with `{target['name']}`" for source, target in pairs)
    rows = {
        "updates": f"{record['updates']:,} (the best model is that of update {record['best_update']:,})",
        "epochs": record["epochs"],
        "training time": _duration(record["hours"]),
        "device": record["device"],
        "training pairs": f"{record['training_pairs']:,}",
        "train NLL": f"{record['train_nll']:.2f} per sentence, {record['train_nll_per_word']:.3f} per word",
        "dev NLL": f"{record['dev_nll']:.2f} per sentence, {record['dev_nll_per_word']:.3f} per word",
        **_error_rates(record),
        "dev BLEU": f"{record['dev_bleu']:.2f} (sacreBLEU, 13a, cased; greedy search)",
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    languages = "".join(f"- {code}\n" for code in (data.source_language, data.target_language) if code != "auto")
    return f"""---
library_name: rnnsearch
pipeline_tag: translation
{f"language:{chr(10)}{languages}" if languages else ""}---

# {kind}, {data.source_name} → {data.target_name}

A neural machine translation model (Bahdanau, Cho & Bengio, *Neural Machine Translation by Jointly Learning to Align and
Translate*, ICLR 2015), trained with rnnsearch.

- {record["parameters"]:,} parameters: embedding m = {model.embedding_size}, hidden n = {model.hidden_size}, alignment n' =
  {model.alignment_size}, maxout l = {model.maxout_size}; cell `{model.cell}`, order `{model.decoder_order}`
- vocabularies: {len(system.vocabularies.source):,} source and {len(system.vocabularies.target):,} target entries
- trained on {files}

| | |
|---|---|
{table}

`training.json` holds the whole record, `config.json` every setting.

    rnnsearch translate --model . input.{data.source_name}
"""


def _error_rates(record: dict[str, Any]) -> dict[str, str]:
    if "dev_wer" not in record:
        return {}
    return {"dev WER": f"{record['dev_wer']:.2f}%, SER {record['dev_ser']:.2f}% (greedy search)"}


def _duration(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"
