"""Commands in odd environments: closed or failing streams, limits, odd variables, pipes, links and names of files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import forked
from campaign.trial import CPU_SECONDS, ESCAPES, LIMIT, MAIN, SMALL, Ended, Part, chance, complaint, partial, settings, world

PAIRS = "--source test.en --target test.fr"
COMMANDS = {
    "translate": "translate --model mlp test.en --output out/text --page out/page.html",
    "translate to standard output": "translate --model mlp test.en --n-best 2",
    "translate by two": "translate --model mlp test.en --jobs 2 --output out/text",
    "evaluate": "evaluate --model mlp --source test.en --reference test.fr --output out/text --json out/figures.json",
    "score": f"score --model mlp {PAIRS}",
    "align": f"align {PAIRS} --output out/links --save out/aligner",
    "align by a model": f"align --model mlp {PAIRS} --output out/links --page out/page.html",
    "project": "project --format html --source test.en --target test.fr --links five.links --output out/html",
    "compare": "compare test.fr test.en --reference test.fr",
    "select": "select --source train.en --target train.fr --in-domain-source test.en --in-domain-target test.fr --pairs 9 "
    "--output-source out/a.en --output-target out/a.fr --scores out/scores",
    "prepare": "prepare --source train.en --target train.fr --output out --set data.tokenizer=whitespace",
    "train": f"train --source train.en --target train.fr --valid-source test.en --valid-target test.fr --output out/model "
    f"{' '.join(settings(SMALL))}",
    "export": "export --model mlp --output out",
    "presets": "presets small",
}
INPUTS = ("test.en", "test.fr", "train.en", "train.fr", "five.links")
TIMED = ("figures.json", "training.json", "last.safetensors", "README.md", "events.", "lock")
"""Files that contain times."""
LIMIT_CODE = "import resource\nresource.setrlimit(resource.RLIMIT_{0}, ({1}, {1}))\n"
CLOSE_CODE = "import os, sys\nos.close({0})\nsys.{1} = sys.__{1}__ = None\n"
STREAMS = ("stdin", "stdout", "stderr")
VARIABLES: dict[str, tuple[str | None, ...]] = {
    "HOME": (None, "", "/nonexistent", "relative", "/dev/null"),
    "TMPDIR": ("/nonexistent", "/dev/null", "", "/proc", "."),
    "COLUMNS": ("1", "0", "-1", "x", "100000"),
    "TERM": (None, "dumb", "xterm-256color", "nonsense"),
    "FORCE_COLOR": ("1",),
    "NO_COLOR": ("1", ""),
    "TZ": ("nonsense", "", ":/dev/null"),
    "XDG_CACHE_HOME": ("/nonexistent", "/dev/null", ""),
    "RANK": ("0",),
    "WORLD_SIZE": ("1",),
}


@dataclass
class Trial:
    """A command and its odd environment."""

    folder: Path
    words: list[str]
    random: Random
    what: list[str] = field(default_factory=list)
    code: str = ""
    environment: dict[str, str] = field(default_factory=lambda: {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"})
    streams: dict[str, int] = field(default_factory=dict)
    refused: bool = False
    """Whether the command must be refused."""
    checks: list[Callable[[], str | None]] = field(default_factory=list)

    def outputs(self) -> list[int]:
        """Return the places of the output files among the words of the command."""
        files = ("--output-source", "--output-target", "--page", "--json", "--scores", "--output")
        options = [place for place, word in enumerate(self.words) if word in files]
        return [place + 1 for place in options if self.words[place + 1] not in ("out", "out/model")]


def closed(trial: Trial) -> None:
    """Close some standard streams, as cron may do."""
    for number in sorted(trial.random.sample(range(3), trial.random.randrange(1, 4))):
        trial.code += CLOSE_CODE.format(number, STREAMS[number])


def failing(trial: Trial) -> None:
    """Connect an output stream to a full device, or to a pipe that nobody reads."""
    name = trial.random.choice(STREAMS[1:])
    if chance(trial.random, 0.5):
        trial.streams[name] = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, trial.streams[name] = os.pipe()
        os.close(reading)


def limited(trial: Trial) -> None:
    """Limit the number of open files, the size of files, or core dumps."""
    name, values = trial.random.choice([("NOFILE", (16, 32, 64)), ("FSIZE", (0, 1, 1000, 20_000)), ("CORE", (0,))])
    trial.code += LIMIT_CODE.format(name, trial.random.choice(values))


def odd_variables(trial: Trial) -> None:
    """Set three environment variables to odd values, or unset them."""
    for name in trial.random.sample([*VARIABLES], 3):
        value = trial.random.choice(VARIABLES[name])
        trial.environment.pop(name, None)
        if value is not None:
            trial.environment[name] = value


def pipe(trial: Trial) -> None:
    """Replace an input by a pipe, which can be read only once."""
    places = [place for place, word in enumerate(trial.words) if word in INPUTS]
    if not places:
        return
    place = trial.random.choice(places)
    text, fifo = trial.folder / trial.words[place], trial.folder / f"pipe{Path(trial.words[place]).suffix}"
    os.mkfifo(fifo)
    trial.words[place] = fifo.name

    def write() -> None:
        with suppress(OSError):
            fifo.write_bytes(text.read_bytes())

    threading.Thread(target=write, daemon=True).start()


def linked(trial: Trial) -> None:
    """Make outputs links, or existing files with a mode that differs from that of new files."""
    for place in trial.outputs():
        output, target = trial.folder / trial.words[place], trial.folder / f"target{place}"
        output.parent.mkdir(exist_ok=True)
        kind = trial.random.choice(("link", "dangling", "mode", "as it is"))
        if kind in ("link", "mode"):
            (target if kind == "link" else output).write_text("old")
            (target if kind == "link" else output).chmod(0o640)
        if kind in ("link", "dangling"):
            output.symlink_to(target)
            trial.checks.append(lambda output=output: None if output.is_symlink() else f"{output} is no link any more")
        if kind in ("link", "mode"):
            trial.checks.append(lambda output=output: None if output.stat().st_mode & 0o777 == 0o640 else "another mode")


def same_names(trial: Trial) -> None:
    """Give an output the name of an input or of another output; the command must be refused."""
    places, random = trial.outputs(), trial.random
    read = [word for word in trial.words if word in INPUTS]
    if not places:
        return
    place = random.choice(places)
    others = [trial.words[other] for other in places if other != place] + read
    if not others:
        return
    other = random.choice(others)
    (trial.folder / "out").mkdir(exist_ok=True)
    (trial.folder / "a-link").symlink_to(other)
    names = [other, f"./{other}", f"out/../{other}", str(trial.folder / other), "a-link"]
    if (trial.folder / other).exists():
        (trial.folder / "hard").hardlink_to(trial.folder / other)
        names.append("hard")
    trial.words[place] = random.choice(names)
    trial.refused = True


def gone(trial: Trial) -> None:
    """Delete the working folder before the command starts; it must be refused."""
    trial.code += "import os, tempfile\nos.chdir(tempfile.mkdtemp())\nos.rmdir(os.getcwd())\n"
    trial.refused = True


KINDS = (
    closed, closed, failing, failing, limited, odd_variables, odd_variables, pipe, pipe, linked, linked, same_names, gone,
)  # fmt: skip


def run(trial: Trial) -> Ended:
    """Run the command to its end or to the time limit."""
    limits = LIMIT_CODE.format("CPU", CPU_SECONDS)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **trial.streams}
    command = [sys.executable, "-c", limits + trial.code + MAIN, *trial.words]
    with forked.Popen(command, cwd=trial.folder, env=trial.environment, **streams) as process:
        try:
            out, err = process.communicate(timeout=LIMIT)
            return Ended(process.returncode, out or b"", err or b"")
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Ended(None, out or b"", err or b"")


def furnish(folder: Path) -> None:
    """Fill a folder with the inputs of the commands."""
    for path in world().iterdir():
        (folder / path.name).symlink_to(path) if path.is_dir() else shutil.copy(path, folder / path.name)
    (folder / "five.links").write_text("0-0 1-1\n" * 5)


def written(folder: Path) -> dict[str, bytes]:
    """Return the output files by name, without those that contain times."""
    files = (path for path in sorted((folder / "out").rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if not any(t in path.name for t in TIMED)}


@cache
def expected(name: str) -> tuple[bytes, dict[str, bytes]]:
    """Return what a command prints and writes in an ordinary environment."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        furnish(Path(place))
        ended = run(Trial(Path(place), COMMANDS[name].split(), Random(1)))
        assert ended.status == 0, (name, ended.err)
        return ended.out, written(Path(place))


def wrong(trial: Trial, name: str, ended: Ended, before: dict[str, bytes]) -> str | None:
    """Return what is wrong: a command must do what it does in an ordinary environment, or refuse with one line."""
    unread = "stdout" in trial.streams and ended.status == 1 and not ended.err
    hidden = "stderr" in trial.streams or "sys.stderr" in trial.code
    failure = complaint(Ended(0, b"", b"") if unread else ended)
    if failure and not (hidden and "without a reason" in failure):
        return failure
    if {one: (trial.folder / one).read_bytes() for one in before} != before:
        return "an input was changed"
    if any(not list(parts.glob("*.part")) for parts in trial.folder.rglob("*.parts")):
        return "left a folder of what is kept, with nothing in it"
    if trial.refused and ended.status == 0:
        return "was done"
    if ended.status == 0:
        out, files = expected(name)
        printed = ESCAPES.sub("", ended.out.decode()).encode().replace(b"pipe.", b"test.")
        if "stdout" not in trial.streams and "sys.stdout" not in trial.code and name != "evaluate" and printed != out:
            return f"printed otherwise: {printed[-200:]!r}"
        if [*written(trial.folder).items()] != [*files.items()] and "pipe" not in trial.what:
            return "wrote otherwise"
        if "pipe" in trial.what and written(trial.folder).keys() != files.keys():
            return "wrote otherwise"
        return next(filter(None, (check() for check in trial.checks)), None)
    return None


def attempt(seed: int, number: int) -> tuple[str, str | None, str]:
    """Run a random command in an environment with one to three kinds of oddities."""
    random = Random(f"{seed} {number}")
    name = random.choice([*COMMANDS])
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        trial = Trial(Path(place), COMMANDS[name].split(), random)
        furnish(trial.folder)
        before = {one: (trial.folder / one).read_bytes() for one in INPUTS}
        for kind in dict.fromkeys(random.choices(KINDS, k=random.choice((1, 1, 2, 3)))):
            if len({same_names.__name__, linked.__name__} & {kind.__name__, *trial.what}) == 2:
                continue
            if trial.refused and kind is pipe:  # The output has the name of an input that is then read no more.
                continue
            kind(trial)
            trial.what.append(kind.__name__)
        ended = run(trial)
        for descriptor in trial.streams.values():
            os.close(descriptor)
        failure = wrong(trial, name, ended, before) or partial(trial.folder)
    return f"{number}: {name}, {', '.join(trial.what)}: {' '.join(trial.words)[:300]}", failure, str(ended.status)


def system(seed: int, numbers: Sequence[int]) -> Part:
    """Run the random commands with these numbers."""
    part, outcomes = Part(), Counter[str]()
    for number in numbers:
        name, failure, status = attempt(seed, number)
        part.attempt(name, failure)
        outcomes[f"status {status}"] += 1
    part.notes.update(outcomes)
    return part
