"""A session without a network: a Python function behind the same contract, for tests and for models under development."""

from collections.abc import Callable, Mapping

from engines.errors import SessionContract
from engines.runtime.session import Array, TensorSpec, batch_limit, check_tensors
from engines.timing import Run


class FakeSession:
    """Implements `engines.runtime.session.Session`.

    Args:
        inputs, outputs: what the graph would declare. Feeds *and* the function's answer are checked against them.
        function: feeds → outputs, by name.
        provider: what `provider` says.

    Attributes:
        calls: how often `run` got past the check of its feeds.
    """

    def __init__(
        self,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        function: Callable[[Mapping[str, Array]], dict[str, Array]],
        provider: str = "cpu",
    ) -> None:
        self.inputs, self.outputs, self.provider, self._function = inputs, outputs, provider, function
        self.tried: tuple[tuple[str, str], ...] = ()
        self.max_batch = batch_limit(inputs)
        self._closed = False
        self.calls = 0

    def run(self, feeds: Mapping[str, Array], run: Run | None = None) -> dict[str, Array]:
        """See `Session.run`; a function whose answer isn't what `outputs` declares raises `SessionContract` too."""
        if self._closed:
            raise SessionContract(graph="fake", detail="the session was closed")
        check_tensors("fake", self.inputs, feeds)
        if run is not None:
            run.check()
        self.calls += 1
        answer = self._function(feeds)
        check_tensors("fake", self.outputs, answer)
        return answer

    def close(self) -> None:
        self._closed = True
