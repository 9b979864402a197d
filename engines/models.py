"""The networks of the pipeline, each opened when it is first needed and kept until the end."""

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast

from engines.errors import InvalidOption
from engines.options import MESH as MESH_MODEL
from engines.options import FuseOptions
from engines.results import FusionModel
from engines.runtime.session import Session, open_session

if TYPE_CHECKING:
    from engines.faces.arcface import ArcFace
    from engines.faces.detector import StackDetector
    from engines.faces.embedder import Embedder
    from engines.faces.enhancer import Enhancer
    from engines.faces.facemesh import FaceMeshNet
    from engines.faces.finder import FaceFinder
    from engines.faces.hands import HandFinder
    from engines.faces.inswapper import Inswapper
    from engines.faces.landmarks_106 import Landmarks106
    from engines.faces.learned_masks import Occluder, Parser
    from engines.faces.restorer import Restorer
    from engines.manifest import Manifest
    from engines.model_entry import ModelEntry, Task
    from engines.safety import SafetyCheck

T = TypeVar("T")

DETECTOR, MESH, IDENTITY, SAFETY = "centerface", "facemesh478", "dlib_resnet29", "open_nsfw"
PALM, HAND = "palm", "hand"
MESH_FUSION = FusionModel("mesh_fusion", "Apache-2.0", True, (DETECTOR, MESH, IDENTITY, SAFETY, PALM, HAND))
ENHANCERS: dict[str, str] = {"fast": "realesr_animevideov3", "full": "realesrgan_x4plus"}


class Models:
    """Opens graphs by their name in models.toml, on one provider.

    Args:
        manifest: resolves a name to a file whose hash fits.
        provider: one of `engines.runtime.session.PROVIDERS`.
        threads: of the CPU provider; 0 = all cores.
        detector, identity: entries that find faces and know them, `Settings.detector` and `Settings.identity`.
        parser, occluder: entries that tell regions and what lies over a face; "" = none, see `Settings`.
    """

    def __init__(
        self, manifest: "Manifest", provider: str, threads: int, detector: str = DETECTOR, identity: str = IDENTITY, parser: str = "",
        occluder: str = "",
    ) -> None:  # fmt: skip
        self._manifest, self._provider, self._threads = manifest, provider, threads
        self._detector, self.identity, self._parser, self._occluder = detector, identity, parser, occluder
        self._sessions: dict[str, Session] = {}
        self._made: dict[str, Any] = {}
        self._lock = threading.RLock()

    @property
    def provider(self) -> str:
        """The provider that really runs the graphs, as the detector's session reports it."""
        return self._session(self._detector).provider

    @property
    def tried(self) -> tuple[tuple[str, str], ...]:
        """For `auto`: the providers that were passed over, each with its reason."""
        return self._session(self._detector).tried

    @property
    def finder(self) -> "FaceFinder":
        from engines.faces.finder import FaceFinder

        return self._once("finder", lambda: FaceFinder(self._open_detector(), self.mesh))

    @property
    def mesh(self) -> "FaceMeshNet":
        from engines.faces.facemesh import FaceMeshNet

        return self._once("mesh", lambda: FaceMeshNet(self._session(MESH)))

    @property
    def embedder(self) -> "Embedder | ArcFace":
        return self.knower(self.identity)

    def knower(self, name: str) -> "Embedder | ArcFace":
        """The identity network of that name: a swapper takes the embedding of one alone. Raises `InvalidOption` for another kind."""
        from engines.faces.arcface import ArcFace
        from engines.faces.embedder import Embedder

        entry = self._of("identity", name, "identity")
        make: Callable[[], Embedder | ArcFace] = lambda: (  # noqa: E731
            ArcFace(self._session(name), entry) if entry.contract else Embedder(self._session(name), name)
        )
        return self._once(name, make)

    def swapper(self, name: str) -> "Inswapper":
        """The swapper of that name. Raises `InvalidOption` for another kind."""
        from engines.faces.inswapper import Inswapper
        from engines.onnx_file import last_initialiser

        entry = self._of("swap", name, "model")
        return self._once(name, lambda: Inswapper(self._session(name), entry, last_initialiser(self._manifest.resolve(name))))

    def swapper_identity(self, name: str) -> str:
        """The identity model whose embedding the swapper takes."""
        return self._of("swap", name, "model").identity

    def restorer(self, name: str) -> "Restorer":
        """The restorer of that name. Raises `InvalidOption` for another kind."""
        from engines.faces.restorer import Restorer

        return self._adapted("restore", name, "restore", Restorer)

    def landmarks(self, name: str) -> "Landmarks106":
        """The network of 106 points of that name. Raises `InvalidOption` for another kind."""
        from engines.faces.landmarks_106 import Landmarks106

        return self._adapted("landmarks", name, "landmarks", Landmarks106)

    @property
    def parser(self) -> "Parser | None":
        """The network that tells regions, where the owner named one. Raises `InvalidOption` for another kind."""
        from engines.faces.learned_masks import FaceParser

        return self._adapted("parse", self._parser, "parser", FaceParser) if self._parser else None

    @property
    def occluder(self) -> "Occluder | None":
        """The network that tells what lies over a face, where the owner named one. Raises `InvalidOption` for another kind."""
        from engines.faces.learned_masks import FaceOccluder

        return self._adapted("occlude", self._occluder, "occluder", FaceOccluder) if self._occluder else None

    @property
    def hands(self) -> "HandFinder":
        from engines.faces.hands import HandFinder

        return self._once("hands", lambda: HandFinder(self._session(PALM), self._session(HAND)))

    @property
    def safety(self) -> "SafetyCheck":
        from engines.safety import SafetyCheck

        return self._once("safety", lambda: SafetyCheck(self._session(SAFETY)))

    def enhancer(self, mode: Literal["fast", "full"]) -> "Enhancer":
        from engines.faces.enhancer import Enhancer

        name = ENHANCERS[mode]
        return self._once(name, lambda: Enhancer(self._session(name), name))

    def admit(self, options: Iterable[FuseOptions]) -> FusionModel:
        """What these options let fuse: looked at before the work, and told with the result.

        Raises:
            InvalidOption: no swapper or restorer of that name. LicenceNotAccepted, ModelMissing, ModelCorrupt: it can't be used yet.
        """
        names = [self._of("parse", self._parser, "parser").name] if self._parser else []
        names += [self._of("occlude", self._occluder, "occluder").name] if self._occluder else []
        for one in options:
            if one.model != MESH_MODEL:
                names += [one.model, self.swapper_identity(one.model)]
            names += [self._of("restore", one.restore, "restore").name] if one.restore else []
        for name in names:
            self._manifest.resolve(name)
        return self.fusion_model(tuple(dict.fromkeys(names)))

    def fusion_model(self, names: Iterable[str] = ()) -> FusionModel:
        """The mesh fusion, or what else took part in it or its place: all licences that bind its outputs.

        Args:
            names: of swappers, the identity models that they need, and restorers.
        """
        own = {DETECTOR: self._detector, IDENTITY: self.identity}
        graphs = tuple(dict.fromkeys((*(own.get(name, name) for name in MESH_FUSION.graphs), *names)))
        entries = [self._manifest.entry(name) for name in graphs]
        bound = [entry for entry in entries if entry.needs_acceptance]
        drawn = [entry.name for entry in entries if entry.task in ("swap", "restore")]
        if not bound and not drawn:
            return FusionModel(MESH_FUSION.name, MESH_FUSION.licence, True, graphs)
        name = " + ".join(drawn) if any(entry.task == "swap" for entry in entries) else " + ".join((MESH_FUSION.name, *drawn))
        licence = " AND ".join(dict.fromkeys(entry.licence for entry in bound)) or MESH_FUSION.licence
        return FusionModel(name, licence, all(entry.commercial for entry in entries), graphs)

    def warm(self) -> None:
        """Opens all that a fusion without enhancement needs, so that the first one is as quick as the second."""
        _ = self.finder, self.mesh, self.embedder, self.safety, self.hands

    def closed(self) -> Self:
        """The same, with no network open yet."""
        return type(self)(self._manifest, self._provider, self._threads, self._detector, self.identity, self._parser, self._occluder)

    def close(self) -> None:
        """Closes every session; the next use opens it again."""
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()
            self._made.clear()

    def _open_detector(self) -> "StackDetector":
        from engines.faces.centerface import CenterFace
        from engines.faces.scrfd import Scrfd
        from engines.faces.yolo_face import YoloFace

        entry = self._of("detect", self._detector, "detector")
        session = self._session(entry.name)
        if entry.contract == "scrfd":
            return Scrfd(session, entry)
        return YoloFace(session, entry) if entry.contract == "yolo_face" else CenterFace(session)

    def _adapted(self, task: "Task", name: str, option: str, adapter: "Callable[[Session, ModelEntry], T]") -> T:
        """The network of that name behind its adapter, made once. Raises `InvalidOption` for another kind."""
        entry = self._of(task, name, option)
        return self._once(name, lambda: adapter(self._session(name), entry))

    def _of(self, task: "Task", name: str, option: str) -> "ModelEntry":
        """The entry, if it is for that task. Raises `InvalidOption` with those that are."""
        allowed = [entry.name for entry in self._manifest.entries if entry.task == task]
        if name not in allowed:
            first = {"model": [MESH_MODEL], "restore": [""], "parser": [""], "occluder": [""]}.get(option, [])
            raise InvalidOption(name=option, value=name, allowed=", ".join(each or "–" for each in (*first, *allowed)))
        return self._manifest.entry(name)

    def _session(self, name: str) -> Session:
        with self._lock:
            if name not in self._sessions:
                self._sessions[name] = open_session(self._manifest.resolve(name), self._provider, self._threads)
            return self._sessions[name]

    def _once(self, name: str, make: Callable[[], T]) -> T:
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            return cast(T, self._made[name])
