"""Every script of `benchmarks/` runs at a tiny size, and writes its record."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_data import write_data, write_model, write_reproduction

from benchmarks.__main__ import scripts

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
TEXTS = "--data {data} --output {runs}"
SERVED = "--model {model} --source {data}/corpus/valid.en"
TEST = "{data}/corpus/test"
PEERS = f"{TEXTS} --peers {{peers}}"
COMMANDS: dict[str, tuple[str, ...]] = {
    "alignment/aligner_steps": (TEXTS,),
    "alignment/aligner_ablation": (f"@alignment/aligners {PEERS} --others eflomal", TEXTS),
    "alignment/aligners": (f"{PEERS} --tests novels all-europarl built-in --others eflomal --blind rnnsearch eflomal",),
    "alignment/alignment_error": (f"{TEXTS} --model {{model}} --eflomal {{peers}}",),
    "alignment/alignment_layer": ("--data {data}",),
    "alignment/attention_models": (f"{TEXTS} --only mlp none",),
    "alignment/corrupted_pairs": (PEERS,),
    "alignment/hard_attention": (f"--model {{model}} --source {TEST}.en --target {TEST}.fr --gold {TEST}.gold --name x",),
    "alignment/languages": (f"{TEXTS} --languages nl ru",),
    "alignment/link_weights": (TEXTS,),
    "alignment/toy_tacotron": ("",),
    "characters/ablation": (TEXTS,),
    "characters/distillation": (
        f"@characters/g2p {TEXTS} --models 2 --levels medium",
        "--data {data} --runs {runs} --text {data}/corpus/test.fr",
    ),
    "characters/g2p": (f"{TEXTS} --models 2 --levels low medium", f"{TEXTS} --multilingual"),
    "characters/inflection": ("--output {runs}",),
    "characters/many_words": ("--words {data}/cmudict.tsv",),
    "characters/pronouncers": ("--dictionary {data}/cmudict.tsv --output {runs} --g2p-en {python}",),
    "exactness/command_bytes": ("--keep {data}/bytes.json --only presets",),
    "exactness/golden": ("",),
    "exactness/reference": ("--data {data}",),
    "exactness/same_weights": ("--output {runs}",),
    "gpu": ("--smoke",),
    "peers/install": (),
    "peers/moses/moses": (),
    "quality/ablation": (f"{TEXTS} --only best LSTM",),
    "quality/box": ("--data {data} --trained {data}/box --after {model}",),
    "quality/box_steps": ("--data {data} --text {data}/box/text",),
    "quality/data_selection": ("--data {data} --lines 400",),
    "quality/everyday_text": ("",),
    "quality/joeynmt_transformer": (f"{PEERS} --hours 0.01",),
    "quality/multi30k": (
        f"{TEXTS} --preset best --models 2 --diversify --member data.right_to_left=true --blind",
        f"{TEXTS} --model rnnencdec --language de",
    ),
    "quality/newstest": tuple(
        f"{TEXTS} --row {row}"
        for row in ("rnnsearch-50", "best --blind", "adapted", "installed-1", "installed-1-adapted", "installed-1-mean")
    ),
    "quality/paper_recipe": ('--output {runs} --only "the paper\'s recipe" "RNNencdec, the paper\'s recipe"',),
    "quality/reproduction": ("{data}/reproduction",),
    "quality/six_attentions": (TEXTS,),
    "quality/small_data": (f"{TEXTS} --list", f"{TEXTS} --only multi30k-en-fr/*"),
    "quality/tags": ("--data {data} --directions en-fr",),
    "quality/terms": (f"{SERVED} --reference {{data}}/corpus/valid.fr",),
    "quality/unknown_words": (TEXTS,),
    "quality/vocabulary_selection": (TEXTS,),
    "quality/word_repair": ("--model {model} --data {data}",),
    "scale/cluster": (SERVED,),
    "scale/jobs": (f"{SERVED} --target {{data}}/corpus/valid.fr",),
    "scale/large_corpora": (TEXTS,),
    "scale/many_processes": (TEXTS,),
    "scale/processes": (TEXTS, f"{TEXTS} --waiting", f"{TEXTS} --memory"),
    "server/ctranslate2_serving": ("",),
    "server/hostile": (SERVED,),
    "server/memory": ("--source {data}/corpus/valid.en --target {data}/corpus/valid.fr",),
    "server/restart": ("--model {model}",),
    "server/serving": (SERVED,),
    "server/soak": (SERVED,),
    "speed/cold_start": ("--model {model}",),
    "speed/data_loading": (TEXTS,),
    "speed/engine_roofline": (TEXTS,),
    "speed/growth": ("",),
    "speed/install_size": (),
    "speed/step_page": ("--model {model}",),
    "speed/training_speed": (f"{PEERS} --pairs 8 --pairs 16",),
    "speed/translation_speed": (PEERS,),
    "speed/word_aligners": (PEERS,),
    "pages/render": (),
    "peers/search_server": (),
    "peers/rnnsearch/training": ("--size tiny --updates 2",),
}
"""By script, the arguments that it is run with, one run after the other; `@` names another script that has to run before."""
NEEDS = {
    "characters/pronouncers": "g2p_en",
    "peers/ctranslate2/server": "ctranslate2",
    "peers/g2p_en/pronounce": "g2p_en",
    "peers/keras/vectors": "keras",
    "quality/joeynmt_transformer": "joeynmt",
    "server/ctranslate2_serving": "ctranslate2",
    "speed/step_page": "playwright",
}
"""The package that a script needs, which is never a dependency."""
BROWSER = {"speed/step_page"}
"""The scripts that drive a browser."""
ELSEWHERE = {
    "exactness/avx2": "an emulated processor takes minutes to load a model",
    "pages/render": "tests/docs/test_reference.py renders every page",
    "peers/install": "it downloads toolkits of some gigabytes",
    "speed/install_size": "it downloads all dependencies",
    "peers/moses/moses": "tests/benchmarks/test_moses.py runs it with stand-ins for the programs of Moses",
    "peers/search_server": "speed/translation_speed runs it",
}
"""The scripts that are not run here, and why."""
EFLOMAL = """#!{python}
import sys
files = dict(zip(sys.argv[1::2], sys.argv[2::2]))
sides = [open(files[side], encoding="utf-8").read().splitlines() for side in ("-s", "-t")]
for links in files.keys() & {{"-f", "-r"}}:
    with open(files[links], "w") as file:
        for one, other in zip(*sides):
            print(*(f"{{n}}-{{n}}" for n in range(min(len(one.split()), len(other.split())))), file=file)
for scores in files.keys() & {{"-F", "-R"}}:
    with open(files[scores], "w") as file:
        for one, other in zip(*sides):
            print(abs(len(one.split()) - len(other.split())), file=file)
"""
"""A stand-in for the program of eflomal, which links words at the same place, and scores pairs by their lengths."""

SCRIPTS = scripts()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders that the commands name."""
    folder = tmp_path_factory.mktemp("benchmarks")
    data = write_data(folder / "data")
    model = write_model(data, folder / "model")
    shutil.copytree(model, data / "box" / "model")
    write_reproduction(data / "reproduction")
    peers = folder / "peers" / "bin"
    peers.mkdir(parents=True)
    (peers / "eflomal-align").write_text(EFLOMAL.format(python=sys.executable))
    (peers / "eflomal-align").chmod(0o755)
    return {"data": data, "model": model, "peers": peers / "python", "root": ROOT, "python": Path(sys.executable)}


@pytest.mark.nightly
@pytest.mark.parametrize("script", SCRIPTS)
def test_it_runs_at_a_tiny_size(script: str, places: dict[str, Path], tmp_path: Path) -> None:
    if script in ELSEWHERE:
        pytest.skip(ELSEWHERE[script])
    if script in NEEDS and importlib.util.find_spec(NEEDS[script]) is None:
        pytest.skip(f"{NEEDS[script]} is not installed")
    if script in BROWSER and shutil.which("chromium") is None:
        pytest.skip("there is no `chromium` on the PATH")
    results = tmp_path / "results"
    names = {**places, "runs": tmp_path / "runs"}
    variables = {**os.environ, "BENCHMARK_TINY": str(results), "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
    results.mkdir()
    for command in COMMANDS[script]:
        first, _, rest = command.partition(" ")
        name, options = (first[1:], rest) if first.startswith("@") else (script, command)
        arguments = [part.format(**names) for part in shlex.split(options)]
        run = [sys.executable, str(BENCHMARKS), name, *arguments]
        done = subprocess.run(run, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, f"{' '.join(run)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        assert done.stdout, "a script says what it has done"
    if re.search(r"write_(result|speed)\(", (BENCHMARKS / f"{script}.py").read_text(encoding="utf-8")):
        assert list(results.rglob("*.json")), "there is no record"


def test_every_script_is_run_or_has_a_reason() -> None:
    assert set(COMMANDS) | set(NEEDS) | set(ELSEWHERE) == set(SCRIPTS)
