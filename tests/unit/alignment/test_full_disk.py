"""A disk that fills up while an aligner learns is one clear line, and the same command goes on once there is room."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from rnnsearch.cli import main
from toy import write_pairs


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this system cannot reserve room on a disk")
@pytest.mark.parametrize("fault", ["reserve", "save"])
def test_a_full_disk_is_told(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def short(*_: object, **named: object) -> None:
        raise OSError("1952456 requested and 430048 written")  # as NumPy tells it

    write_pairs(tmp_path, "train", 200, 1)
    output = tmp_path / "links"
    words = ["--source", tmp_path / "train.en", "--target", tmp_path / "train.fr", "--output", output]
    monkeypatch.setattr(sys, "argv", ["rnnsearch", "align", *map(str, words)])
    with monkeypatch.context() as full:
        full.setattr("os.dup2", lambda *_: None)  # standard output belongs to the tests
        full.setattr(*((os, "posix_fallocate", no_room) if fault == "reserve" else (np, "savez_compressed", short)))
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
    assert "rnnsearch: the disk is full" in capsys.readouterr().err
    assert not output.exists()
    with suppress(SystemExit):  # the same command, with room on the disk
        main()
    assert len(output.read_text(encoding="utf-8").splitlines()) == 200
