"""The commands, run in this process as the console script runs them: a second of start is saved each time."""

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner, Result

from studio.cli import app


class Command:
    """`environment` is what a process of its own would be given as well."""

    def __init__(self, data_dir: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FUSION_STUDIO_", "LC_", "LANG"))}
        added = {"FUSION_STUDIO_DATA_DIR": str(data_dir), "FUSION_STUDIO_PROVIDER": "cpu", "PYTHONWARNINGS": "error"}
        self.environment = kept | added

    def __call__(self, *arguments: object, status: int = 0, **environment: str) -> Result:
        with patch.dict(os.environ, self.environment | environment, clear=True):
            done = CliRunner().invoke(app, list(map(str, arguments)), prog_name="fusion-studio")
        assert done.exit_code == status, f"{done.stdout}{done.stderr}{done.exception!r}"
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done

    def json(self, *arguments: object, status: int = 0, **environment: str) -> dict[str, Any]:
        done = self(*arguments, "--json", status=status, **environment)
        assert done.stdout.count("\n") == 1
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
