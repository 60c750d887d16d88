"""What is forked behaves like what is started cold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import forked

PROGRAMS = {
    "what it was given": (
        "import os, sys;"
        "print(sys.argv, sys.path, __name__, os.getcwd(), os.environ['GIVEN'], sorted(globals()), file=sys.stderr)"
    ),
    "streams": (
        "import sys; print([(s.encoding, s.errors, s.line_buffering) for s in (sys.stdin, sys.stdout, sys.stderr)]);"
        "print(sys.stdin.read().upper()); sys.stderr.write('no newline')"
    ),
    "open files": "import os; print([name for name in os.listdir('/proc/self/fd') if int(name) > 2])",
    "signals": (
        "import signal as s; print(s.pthread_sigmask(0, []));"
        "print([s.getsignal(n) for n in (s.SIGINT, s.SIGTERM, s.SIGPIPE, s.SIGCHLD)])"
    ),
    "status": "import sys; sys.exit(3)",
    "status in words": "import sys; sys.exit('in words')",
    "no status": "import sys; sys.exit()",
    "left at once": "import os; print('lost', end=''); os._exit(4)",
    "atexit": "import atexit; atexit.register(print, 'at exit'); print('before')",
    "a thread": (
        "import threading, time\ndef late(): time.sleep(0.1); print('thread')\n"
        "threading.Thread(target=late).start(); print('main')"
    ),
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "children": "import subprocess; print(subprocess.run(['sh', '-c', 'echo child; exit 5'], stdout=2).returncode)",
    "pickled": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))",
    "command": "from rnnsearch.cli import main; main()",
}  # fmt: skip


def both(code: str, *arguments: str, **options: Any) -> tuple[list[Any], list[Any]]:
    """Status, output and errors: of the forked process, and of the cold one."""
    found = []
    for popen in (forked.Popen, subprocess.Popen):
        process = popen([sys.executable, "-c", code, *arguments], stdin=-1, stdout=-1, stderr=-1, text=True, **options)
        out, err = process.communicate("gelesen: é\n", timeout=120)
        found.append([process.returncode, out, err])
    return found[0], found[1]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_as_cold(program: str, tmp_path: Path) -> None:
    environment = {**os.environ, "GIVEN": "ja", "COLUMNS": "80"}
    fork, cold = both(PROGRAMS[program], "presets", "small", cwd=tmp_path, env=environment)
    assert fork == cold


@pytest.mark.parametrize("code", ["1 / 0", "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)"])
def test_a_traceback_is_printed(code: str) -> None:
    fork, cold = both(code)
    assert fork[0] == cold[0]
    assert fork[2].splitlines()[-1] == cold[2].splitlines()[-1]
    assert "Traceback" in fork[2]


def waiting(code: str = "", **options: Any) -> forked.Popen:
    """A process that has run the code, and waits."""
    code = f"import sys, time\n{code}\nprint('here', flush=True)\ntime.sleep(100)"
    process = forked.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals(number: signal.Signals) -> None:
    process = waiting()
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert process.wait() == process.poll() == -number


def test_stopped_and_continued() -> None:
    process = waiting()
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.2)
    process.kill()
    assert process.wait(timeout=60) == -signal.SIGKILL
    process.communicate()


def test_one_does_not_hold_the_pipes_of_another() -> None:
    first = waiting()
    second = waiting(stdin=subprocess.PIPE)
    second.kill()
    assert second.communicate(timeout=60)[0] == b""
    assert first.poll() is None
    first.kill()
    first.communicate()


@pytest.mark.parametrize("cold", [False, True])
def test_nobody_reads(cold: bool) -> None:
    code = "import os\ntry:\n while True: os.write(1, b'x' * 10_000)\nexcept BrokenPipeError: exit(3)"
    popen = subprocess.Popen if cold else forked.Popen
    process = popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(10) == b"x" * 10
    process.stdout.close()
    assert process.wait(60) == 3


@pytest.mark.slow
def test_threads() -> None:
    """The server has none of OpenMP's, and a child has all that a cold start has; or as many as it is to have."""
    code = (
        "import os, torch; before = len(os.listdir('/proc/self/task'))\n"
        "torch.ones(4_000_000).exp().sum(); (torch.ones(500, 500) @ torch.ones(500, 500)).sum()\n"
        "print(torch.get_num_threads(), len(os.listdir('/proc/self/task')) - before)"
    )
    fork, cold = both(code, env={name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"})
    assert fork == cold
    fork, cold = both(code, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert fork == cold
    assert fork[1] == "1 0\n"


def test_through_a_shell(tmp_path: Path) -> None:
    """Pipes, redirections and the status are the shell's."""
    code = "import sys; print(sys.argv[1] + sys.stdin.read().strip()); sys.exit(int(sys.argv[2]))"
    script = 'echo a | "$@" b 0 | "$@" c 0 > out; "$@" d 7 < out'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *forked.command(code)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (7, "dcba\n"), done.stderr


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="PYTHON"):
        forked.Popen([sys.executable, "-c", "pass"], env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    with pytest.raises(ValueError, match="only"):
        forked.Popen(["ls"])


@pytest.mark.slow
def test_the_server_ends_with_the_process_that_started_it() -> None:
    code = (
        "import os, sys, forked; p = forked.Popen([sys.executable, '-c', 'import time; time.sleep(100)'], stdout=-3)\n"
        "keeper = int(open(f'/proc/{p.pid}/stat').read().split()[3])\n"
        "print(open(f'/proc/{keeper}/stat').read().split()[3], p.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    program = [sys.executable, "-c", code]
    done = subprocess.run(program, cwd=Path(__file__).parent, stdout=-1, stderr=-3, text=True, check=False)
    server, child = map(int, done.stdout.split())
    os.kill(child, signal.SIGKILL)
    for _ in range(1000):
        if not Path(f"/proc/{server}").exists():
            return
        time.sleep(0.01)
    raise AssertionError("the server is still there")
