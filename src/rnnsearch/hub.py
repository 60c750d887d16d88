"""Models on the Hugging Face Hub: downloaded by name, and uploaded with their card, by `huggingface_hub`.

Only the files of a model folder are downloaded, all of them data: nothing that comes from the Hub is executed or unpickled.
The address of the Hub is `$HF_ENDPOINT`, where it is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import SHARED, read_model_config, shared_files
from rnnsearch.untrusted import check_inside

_UNREACHABLE = ("LocalEntryNotFoundError", "OfflineModeIsEnabled", "OSError")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def download_model(name: str) -> Path | None:
    """A copy of the model on the Hub that has this name, such as `user/name`; None where the name is of another form.

    A copy is kept in the cache of `huggingface_hub`, and is used without a network too. Raises RnnsearchError, in one line,
    where the Hub has no such model, or cannot be reached.
    """
    if not _NAME.fullmatch(name):
        return None
    with _explained(f"{name}: there is no such folder, and"):
        return Path(_huggingface_hub().snapshot_download(name, allow_patterns=list(SHARED)))


def push_model(folder: Path, name: str, private: bool = False) -> str:
    """Upload a model folder, without its text and checkpoints, to the Hub as `name`; returns its address.

    Raises RnnsearchError where the folder is not a model, has a file that is a link to something outside of it, or the Hub
    refuses.
    """
    read_model_config(folder)
    files = shared_files(folder)
    check_inside(folder, files)
    if not _NAME.fullmatch(name):
        raise RnnsearchError(f"{name}: a name on the Hub consists of your user name and the model's, as in ada/en-fr")
    with _explained(f"{name}:"):
        hub = _huggingface_hub().HfApi()
        hub.create_repo(name, private=private, exist_ok=True)
        names = [path.name for path in files]  # exactly these, and none of a folder within
        hub.upload_folder(repo_id=name, folder_path=folder, allow_patterns=names, commit_message="Upload the model")
        return f"{hub.endpoint}/{name}"


def _huggingface_hub() -> ModuleType:
    try:
        import huggingface_hub
    except ImportError:
        raise RnnsearchError(
            "models on the Hugging Face Hub need the package huggingface_hub; install it with `pip install huggingface_hub`"
        ) from None
    return huggingface_hub


@contextmanager
def _explained(beginning: str) -> Iterator[None]:
    """Turn the errors of the Hub into one line that begins like this."""
    try:
        yield
    except RnnsearchError as error:
        raise RnnsearchError(f"{beginning} {error}") from None
    except Exception as error:
        kind = type(error).__name__
        if kind in ("RepositoryNotFoundError", "GatedRepoError"):
            reason = "the Hub has no such model, or it is private; log in with `hf auth login`"
        elif kind in _UNREACHABLE or "Connect" in kind or "Timeout" in kind:
            reason = "the Hub cannot be reached; is there a network?"
        else:
            lines = str(error).strip().splitlines()
            reason = f"the Hub answers: {lines[0] if lines else kind}"
        raise RnnsearchError(f"{beginning} {reason}") from None
