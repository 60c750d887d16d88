"""Download and upload of models on the Hugging Face Hub, with the package `huggingface_hub`.

Only the files of a model folder are downloaded, and all of them are data: nothing from the Hub is executed or unpickled. If
`$HF_ENDPOINT` is set, it is the address of the Hub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from rnnsearch.errors import RnnsearchError
from rnnsearch.extras import imports_of_extras
from rnnsearch.model_files import SHARED, read_model_config, shared_files
from rnnsearch.untrusted import check_inside

_UNREACHABLE = ("LocalEntryNotFoundError", "OfflineModeIsEnabled", "OSError")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def download_model(name: str) -> Path | None:
    """Download a model from the Hub by its name, such as `user/name`, and return its folder; None for other names.

    The folder is in the cache of `huggingface_hub`, and is also used without a network. Raises RnnsearchError, in one line,
    if the Hub has no such model or cannot be reached.
    """
    if not _NAME.fullmatch(name):
        return None
    with _explained(f"{name}: there is no such folder, and"):
        return Path(_huggingface_hub().snapshot_download(name, allow_patterns=list(SHARED)))


def push_model(folder: Path, name: str, private: bool = False) -> str:
    """Upload a model folder, without its text and checkpoints, to the Hub under `name`, and return its address.

    Raises RnnsearchError if the folder is not a model, if one of its files is a link to a file outside of it, or if the Hub
    refuses the upload.
    """
    read_model_config(folder)
    files = shared_files(folder)
    check_inside(folder, files)
    if not _NAME.fullmatch(name):
        raise RnnsearchError(f"{name}: a name on the Hub consists of your user name and the model's, as in ada/en-fr")
    with _explained(f"{name}:"):
        hub = _huggingface_hub().HfApi()
        hub.create_repo(name, private=private, exist_ok=True)
        names = [path.name for path in files]  # exactly these files, and none in subfolders
        hub.upload_folder(repo_id=name, folder_path=folder, allow_patterns=names, commit_message="Upload the model")
        return f"{hub.endpoint}/{name}"


def _huggingface_hub() -> ModuleType:
    with imports_of_extras():
        import huggingface_hub
    return huggingface_hub


@contextmanager
def _explained(beginning: str) -> Iterator[None]:
    """Return a context that turns errors of the Hub into an RnnsearchError of one line that begins with `beginning`."""
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
