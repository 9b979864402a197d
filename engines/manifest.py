"""`Manifest`: the models that the studio knows, where their files are, whether they are sound, and how they are mended."""

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

from engines.errors import DownloadFailed, InvalidOption, LicenceNotAccepted, ManifestInvalid, ModelCorrupt, ModelMissing, ModelUnknown
from engines.model_entry import Archive, ModelEntry, Task, read_entries
from engines.model_files import alone, digest, install, unpack, writing
from engines.rebuild import can_rebuild, rebuild
from engines.settings import PREFIX, Settings
from engines.text import ASSETS
from engines.timing import Run

if TYPE_CHECKING:
    from engines.download import OnProgress

__all__ = ["Manifest", "ModelEntry", "ModelState"]

MIRROR = PREFIX + "MIRROR"
ACCEPTED = "licences.json"
LIST = "models.toml"
KEPT = Path(".insightface", "models")  # where InsightFace's own package puts what it downloads, in a person's home


@dataclass(frozen=True, slots=True)
class ModelState:
    """What stands in place of a model's file, and where: the file that counts, or the folder's place for one that is missing."""

    entry: ModelEntry
    state: Literal["present", "missing", "corrupt"]
    path: Path

    def as_dict(self) -> dict[str, object]:
        """What the command line and the API tell."""
        return self.entry.as_dict() | {"state": self.state, "path": str(self.path)}


class Manifest:
    """The entries of models.toml and two folders: `models` in the data folder, which counts first, and the default pack.

    A person may add models: a file that an entry knows is known by its hash, whatever its name in the data folder; for any other its
    entry goes into a models.toml beside it.

    A file's hash is taken once for each state of it (size, times, inode) in a process: 0.1 s for the whole pack of 73 MB, and only of
    models that are used. Thread-safe.
    """

    def __init__(self, entries: tuple[ModelEntry, ...], data_dir: Path, assets: Path, mirror: str) -> None:
        self.entries = entries
        self._by_name = {entry.name: entry for entry in entries}
        self._data_dir, self._own, self._pack = data_dir, data_dir / "models", assets / "models"
        self._root, self._mirror = assets.parent, mirror.rstrip("/")

    @classmethod
    def load(cls, settings: Settings, assets: Path = ASSETS, environ: Mapping[str, str] | None = None) -> Self:
        """Reads `assets`/models.toml, and the person's own beside the models of the data folder.

        Args:
            settings: its `data_dir` is where fetched models and accepted licences are kept.
            environ: FUSION_STUDIO_MIRROR, an address to which a file's name is added, replaces every other source of files.

        Raises:
            ManifestInvalid: a list is wrong, and where; the own one names a model or a file a second time.
            InvalidOption: a mirror that is no http address.
        """
        mirror = (os.environ if environ is None else environ).get(MIRROR, "")
        if mirror and not _is_address(mirror):
            raise InvalidOption(name=MIRROR, value=mirror, allowed="http://… , https://…")
        entries, own = read_entries(assets / LIST), settings.data_dir / "models" / LIST
        if own.is_file():
            entries = _joined(entries, read_entries(own, own=True), own)
        return cls(entries, settings.data_dir, assets, mirror)

    def entry(self, name: str) -> ModelEntry:
        """Raises `ModelUnknown`, with the names that are known."""
        if name not in self._by_name:
            raise ModelUnknown(name=name, known=", ".join(self._by_name))
        return self._by_name[name]

    def expand(self, name: str) -> tuple[str, ...]:
        """The models that a name means: itself, or all that come in the archive of that name. Raises `ModelUnknown`."""
        together = tuple(entry.name for entry in self.entries if entry.archive is not None and entry.archive.name == name)
        return together if name not in self._by_name and together else (self.entry(name).name,)

    def resolve(self, name: str) -> Path:
        """The model's file, its hash checked.

        Raises:
            ModelUnknown: no such entry.
            ModelMissing: in neither folder.
            ModelCorrupt: not the bytes that models.toml names. A broken file in the data folder isn't passed over for a good one in the
                pack: somebody put it there, and should know.
            LicenceNotAccepted: for research only, and nobody accepted that.
        """
        entry = self.entry(name)
        self._gate(entry)
        found = self._state(entry)
        if found.state != "present":
            kind = ModelMissing if found.state == "missing" else ModelCorrupt
            raise kind(name=name, file=entry.file, folder=found.path.parent)
        return found.path

    def check(self, hashed: bool = True) -> tuple[ModelState, ...]:
        """The state of every entry, in the order of models.toml. An optional model that nobody fetched is missing, too.

        Args:
            hashed: False looks at the sizes only.
        """
        return tuple(self._state(entry, hashed) for entry in self.entries)

    def accepted(self, name: str) -> bool:
        """Whether the model's licence needs no acceptance or was accepted on this machine."""
        entry = self.entry(name)
        return not entry.needs_acceptance or self._acceptances().get(name, {}).get("licence") == entry.licence

    def admit(self, name: str, accept_licence: bool = False) -> tuple[str, ...]:
        """The models that a name means, as `expand` says, all licences accepted before one of them is fetched: an archive is then fetched
        once for all of them.

        Raises:
            ModelUnknown. LicenceNotAccepted: by the name that was asked for.
        """
        entries = [self.entry(each) for each in self.expand(name)]
        for entry in entries:
            if not accept_licence and not self.accepted(entry.name):
                raise LicenceNotAccepted(name=name, licence=entry.licence)
            self._gate(entry, accept_licence)
        return tuple(entry.name for entry in entries)

    def usable(self, task: Task) -> tuple[str, ...]:
        """The models of others for a task that are there, as their sizes say, and whose licences were accepted; a swapper with the
        identity model that it needs."""

        def there(entry: ModelEntry) -> bool:
            return self.accepted(entry.name) and self._state(entry, hashed=False).state == "present"

        wanted = (entry for entry in self.entries if entry.task == task and entry.contract)
        return tuple(each.name for each in wanted if there(each) and (not each.identity or there(self.entry(each.identity))))

    def fetch(self, name: str, accept_licence: bool = False, on_progress: "OnProgress | None" = None, run: Run | None = None) -> Path:
        """Mends a model's file or brings it here, if the one that counts isn't sound: into the data folder, and from there into the pack
        when the fault is in the pack, and the pack can be written to.

        Tried in this order: a sound copy in the other folder, or where InsightFace's package keeps its models; the mirror, where one is
        set, and then nothing else; the entry's own address, an archive's other models coming along; the package that the model was made
        from (`engines.rebuild`).

        Args:
            accept_licence: accepts a licence for research only; kept by the model's name in the data folder.
            on_progress: called with bytes that are there and bytes in all, on this thread. A rebuild tells its beginning and its end.
            run: stop it to stop the fetch; a download leaves its `.part` file, which the next try continues.

        Raises:
            ModelUnknown, LicenceNotAccepted, DownloadFailed, OutputUnwritable, Cancelled.
        """
        entry, run = self.entry(name), run or Run()
        self._gate(entry, accept_licence)
        target, found = self._own / entry.file, self._state(entry)
        if found.state == "present":
            return found.path
        with writing(target), alone(self._own, run):
            found = self._state(entry)
            if found.state != "present":  # another fetch may have been at work until now
                self._mend(entry, target, on_progress, run)
                if found.path.parent == self._pack:
                    _settle(target, found.path)
        return self._state(entry).path

    def _mend(self, entry: ModelEntry, target: Path, on_progress: "OnProgress | None", run: Run) -> None:
        sound = next((copy for copy in self._copies(entry) if _sound(entry, copy)), None)
        if sound is not None:
            part = target.with_name(f"{target.name}.copy.part")
            shutil.copyfile(sound, part)
            install(entry, part, target)
        elif self._mirror or entry.url:
            from engines.download import download  # httpx takes 0.1 s to load, and most runs never fetch anything

            if entry.archive is not None and not self._mirror:
                archive = replace(entry, file=f"{entry.archive.name}.zip", sha256=entry.archive.sha256, size=entry.archive.size)
                download(archive, entry.url, self._own / archive.file, on_progress, run)
                unpack(self._own / archive.file, self._wanted(entry.archive), self._own, run)
            else:
                download(entry, f"{self._mirror}/{entry.file}" if self._mirror else entry.url, target, on_progress, run)
        elif entry.own:
            raise DownloadFailed("own", name=entry.name, detail=self._own / entry.file)
        elif can_rebuild(self._root):
            if on_progress is not None:
                on_progress(0, entry.size)
            rebuild(entry, target, self._root, run)
        else:
            raise DownloadFailed("no_source", name=entry.name, detail=f"no {MIRROR}, no tools/modelpack")
        if on_progress is not None:
            on_progress(entry.size, entry.size)

    def _copies(self, entry: ModelEntry) -> tuple[Path, ...]:
        kept = Path.home() / KEPT
        return self._pack / entry.file, kept / entry.file, *((kept / entry.archive.name / entry.file,) if entry.archive else ())

    def _wanted(self, archive: Archive) -> tuple[ModelEntry, ...]:
        """The archive's models that may be used here and aren't there yet."""
        of_it = (entry for entry in self.entries if entry.archive is not None and entry.archive.sha256 == archive.sha256)
        return tuple(entry for entry in of_it if self.accepted(entry.name) and self._state(entry, False).state != "present")

    def _state(self, entry: ModelEntry, hashed: bool = True) -> ModelState:
        for folder in (self._own, self._pack):
            path = folder / entry.file
            if path.exists():
                return ModelState(entry, "present" if _sound(entry, path, hashed) else "corrupt", path)
        renamed = self._renamed(entry) if entry.optional else None
        if renamed is not None:
            return ModelState(entry, "present", renamed)
        return ModelState(entry, "missing", (self._own if entry.optional else self._pack) / entry.file)

    def _renamed(self, entry: ModelEntry) -> Path | None:
        """The file under another name in the data folder: told by its hash, which is taken of files of its size alone."""
        try:
            files = sorted(path for path in self._own.iterdir() if path.suffix == ".onnx")
        except OSError:
            return None
        return next((path for path in files if _sound(entry, path)), None)

    def _gate(self, entry: ModelEntry, accept: bool = False) -> None:
        if self.accepted(entry.name):
            return
        if not accept:
            raise LicenceNotAccepted(name=entry.name, licence=entry.licence)
        path = self._data_dir / ACCEPTED
        part = path.with_suffix(".part")
        record = self._acceptances()
        record[entry.name] = {"licence": entry.licence, "accepted": datetime.now(UTC).isoformat(timespec="seconds")}
        with writing(path):
            self._data_dir.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(record, indent=1), encoding="utf-8")
            os.replace(part, path)

    def _acceptances(self) -> dict[str, dict[str, Any]]:
        """What was accepted; a record that can't be read counts as none, so that the person is asked again."""
        try:
            record = json.loads((self._data_dir / ACCEPTED).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {name: value for name, value in record.items() if isinstance(value, dict)} if isinstance(record, dict) else {}


def _joined(ours: tuple[ModelEntry, ...], theirs: tuple[ModelEntry, ...], path: Path) -> tuple[ModelEntry, ...]:
    for entry in theirs:
        for key, taken in (("", any(entry.name == each.name for each in ours)), (".file", any(entry.file == each.file for each in ours))):
            if taken:
                raise ManifestInvalid(path=path, where=f"models.{entry.name}{key}", detail="the studio has one of that name already")
    names = {entry.name for entry in (*ours, *theirs) if entry.task == "identity"}
    for entry in theirs:
        if entry.identity and entry.identity not in names:
            raise ManifestInvalid(path=path, where=f"models.{entry.name}.identity", detail=f"there is no identity model {entry.identity}")
    return (*ours, *theirs)


def _settle(target: Path, place: Path) -> None:
    """Moves a mended file to its place in the pack. In the data folder, which counts first, it does as well: an update would outdate it."""
    part = place.with_name(f"{place.name}.part")
    with contextlib.suppress(OSError):
        shutil.copyfile(target, part)
        os.replace(part, place)
        target.unlink()
    with contextlib.suppress(OSError):
        part.unlink(missing_ok=True)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that isn't closed
        return False


def _sound(entry: ModelEntry, path: Path, hashed: bool = True) -> bool:
    """Whether the file is the one that the entry names. The size is looked at first: it costs nothing."""
    try:
        state = path.stat()
        if state.st_size != entry.size or not hashed:
            return state.st_size == entry.size
        # the change time and the inode are in the key since an edit can keep size and modification time, but not these
        return _digest(path, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino) == entry.sha256
    except OSError:
        return False


@lru_cache(maxsize=256)
def _digest(path: Path, *_state: int) -> str:
    return digest(path)
