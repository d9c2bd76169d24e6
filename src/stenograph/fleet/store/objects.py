"""An object store by its URL: a folder, S3, Google Cloud Storage or Azure, through obstore.

Every method is one request. obstore waits and retries if the store is overloaded or out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from stenograph.errors import InvalidTarget, MissingExtra, SourceError, StoreError

if TYPE_CHECKING:
    from obstore.store import ObjectStore, RetryConfig

SCHEMES = ("file", "s3", "gs", "az")
_PATIENCE = timedelta(minutes=3)
_LONGEST_MESSAGE = 300


class Entry(NamedTuple):
    """One object of a listing."""

    key: str
    size: int


class Objects:
    """A store. For any number of threads."""

    def __init__(self, url: str, store: ObjectStore) -> None:
        """`open_store` makes one."""
        self.url = url
        self._store = store

    def create(self, key: str, data: bytes) -> bool:
        """Create an object; False if it exists, and then it stays as it is. Raises `StoreError`."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            with self._writing(key):
                obstore.put(self._store, key, data, mode="create", use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def replace(self, key: str, data: bytes) -> None:
        """Write an object, replacing an existing one: for maintenance only. Raises `StoreError`."""
        import obstore

        with self._writing(key):
            obstore.put(self._store, key, data, use_multipart=False)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects: for maintenance only. Raises `StoreError`."""
        import obstore

        if found := list(keys):
            with self._writing(found[0]):
                obstore.delete(self._store, found)

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """An object, or a part of one. Raises `SourceError`."""
        import obstore

        try:
            with self._reading(key, FileNotFoundError):
                if length is not None:
                    return obstore.get_range(self._store, key, start=start, length=length).to_bytes()
                return obstore.get(self._store, key).bytes().to_bytes()
        except FileNotFoundError as error:
            raise SourceError(f"{key} is not in {self.url} any more; it was deleted meanwhile", self.url) from error

    def find(self, key: str) -> bytes | None:
        """An object; None if it does not exist. Raises `SourceError`."""
        import obstore

        try:
            with self._reading(key, FileNotFoundError):
                return obstore.get(self._store, key).bytes().to_bytes()
        except FileNotFoundError:  # which obstore raises, unlike its other errors
            return None

    def entries(self, folder: str) -> list[Entry]:
        """Every object below a folder, in the order of their keys. Raises `SourceError`."""
        import obstore

        with self._reading(folder):
            found = [Entry(each["path"], each["size"]) for page in obstore.list(self._store, folder) for each in page]
        return sorted(found)

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, in order. Raises `SourceError`."""
        import obstore

        with self._reading(folder):
            found = obstore.list_with_delimiter(self._store, folder.rstrip("/"))["common_prefixes"]
        return sorted(each.rstrip("/").rpartition("/")[2] for each in found)

    def require_conditional_create(self, key: str, data: bytes) -> None:
        """Make sure that an object with this content exists, and refuse a store that lets it be created twice.

        Everything depends on this: a store that lets two senders, or two commits of a table, succeed with one key
        loses data silently. Raises `StoreError`.
        """
        if self.create(key, data) and self.create(key, data):
            raise StoreError(
                f"{self.url} cannot be used: it lets an object be created twice (it ignores If-None-Match), so one "
                "writer could silently replace what another wrote; use a store with conditional writes",
                self.url,
            )

    @contextmanager
    def _writing(self, key: str) -> Iterator[None]:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        passing = (AlreadyExistsError, PreconditionError)
        with _told(lambda why: StoreError(f"cannot write {key} to {self.url}: {why}", self.url), passing):
            yield

    @contextmanager
    def _reading(self, key: str, *passing: type[Exception]) -> Iterator[None]:
        with _told(lambda why: SourceError(f"cannot read {key} of {self.url}: {why}", self.url), passing):
            yield


def open_store(url: str, *, must_exist: bool = False) -> Objects:
    """The store at a URL: `file:///folder`, `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`.

    Credentials and endpoints are found as the cloud's own tools find them (environment, profile, role of the machine).
    A folder is made, unless it `must_exist`. Raises `InvalidTarget` for another URL, `SourceError` where a folder is
    missing that must exist, and `MissingExtra` without obstore.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # a bracket that is not closed
        parts = urlsplit("")
    if parts.scheme not in SCHEMES or not (parts.netloc or parts.path):
        raise InvalidTarget(f"{url!r} is not the URL of a store; give file:///folder, s3://, gs:// or az://")
    if parts.scheme == "file" and (parts.netloc or not parts.path.startswith("/")):
        raise InvalidTarget(f"{url!r} is not the URL of a folder; write file:// and its absolute path")
    if must_exist and parts.scheme == "file" and not Path(unquote(parts.path)).is_dir():
        raise SourceError(f"there is no folder {unquote(parts.path)}; check the URL", url)
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as error:
        raise MissingExtra("obstore", "store") from error
    options: dict[str, Any] = {"mkdir": True, "automatic_cleanup": True}
    if parts.scheme != "file":
        retry: RetryConfig = {
            "max_retries": 10,
            "retry_timeout": _PATIENCE,
            "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=30), "base": 2},
        }
        options = {"retry_config": retry}
    try:
        return Objects(url.rstrip("/"), from_url(url, **options))
    except (BaseError, OSError, ValueError) as error:
        raise StoreError(f"cannot open {url}: {_first_line(error)}", url) from error


@contextmanager
def _told(error_of: Callable[[str], Exception], passing: tuple[type[Exception], ...]) -> Iterator[None]:
    """Raise obstore's errors as one sentence of ours, except those that the caller expects."""
    from obstore.exceptions import BaseError

    try:
        yield
    except passing:
        raise
    except (BaseError, OSError, ValueError) as error:
        raise error_of(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0].rstrip(":. ")
    return f"{text[:_LONGEST_MESSAGE]}; check the URL, its permissions and the network"
