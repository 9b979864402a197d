"""The networks of the pipeline, each opened when it is first needed and kept until the end."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from engines.results import FusionModel
from engines.runtime.session import Session, open_session

if TYPE_CHECKING:
    from engines.faces.embedder import Embedder
    from engines.faces.enhancer import Enhancer
    from engines.faces.facemesh import FaceMeshNet
    from engines.faces.finder import FaceFinder
    from engines.faces.hands import HandFinder
    from engines.manifest import Manifest
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
    """

    def __init__(self, manifest: "Manifest", provider: str, threads: int) -> None:
        self._manifest, self._provider, self._threads = manifest, provider, threads
        self._sessions: dict[str, Session] = {}
        self._made: dict[str, Any] = {}
        self._lock = threading.RLock()

    @property
    def provider(self) -> str:
        """The provider that really runs the graphs, as the detector's session reports it."""
        return self._session(DETECTOR).provider

    @property
    def tried(self) -> tuple[tuple[str, str], ...]:
        """For `auto`: the providers that were passed over, each with its reason."""
        return self._session(DETECTOR).tried

    @property
    def finder(self) -> "FaceFinder":
        from engines.faces.centerface import CenterFace
        from engines.faces.finder import FaceFinder

        return self._once("finder", lambda: FaceFinder(CenterFace(self._session(DETECTOR)), self.mesh))

    @property
    def mesh(self) -> "FaceMeshNet":
        from engines.faces.facemesh import FaceMeshNet

        return self._once("mesh", lambda: FaceMeshNet(self._session(MESH)))

    @property
    def embedder(self) -> "Embedder":
        from engines.faces.embedder import Embedder

        return self._once("embedder", lambda: Embedder(self._session(IDENTITY), IDENTITY))

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

    def warm(self) -> None:
        """Opens all that a fusion without enhancement needs, so that the first one is as quick as the second."""
        _ = self.finder, self.mesh, self.embedder, self.safety, self.hands

    def close(self) -> None:
        """Closes every session; the next use opens it again."""
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()
            self._made.clear()

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
