"""`DoctorReport`: findings in two languages for people, the same as plain values for programs."""

from dataclasses import dataclass
from typing import Any, Literal

from engines.errors import FusionError
from engines.runtime.providers import ProviderStatus
from engines.text import has, text

Level = Literal["ok", "warn", "bad"]
LEVELS: tuple[Level, ...] = ("ok", "warn", "bad")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        area: python, machine, memory, packages, provider, models, folder, key or browser.
        level: ok; warn = works, but not as well as it could; bad = something won't work.
        key: of the sentence, under `doctor.finding.`; beside it may stand `<key>_mend`, what to do, one command or sentence a line.
        facts: of both.
        fault: where an error says it already, its sentence and hint stand in the place of `key`'s.
    """

    area: str
    level: Level
    key: str = ""
    facts: tuple[tuple[str, object], ...] = ()
    fault: FusionError | None = None

    def message(self, language: str = "en") -> str:
        """One sentence: what was found."""
        if self.fault is not None:
            return self.fault.message(language)
        return text(f"doctor.finding.{self.key}", language, **dict(self.facts))

    def mend(self, language: str = "en") -> str:
        """What to do; "" where there is nothing to do."""
        if self.level == "ok":
            return ""
        if self.fault is not None:
            return self.fault.hint(language)
        key = f"doctor.finding.{self.key}_mend"
        return text(key, language, **dict(self.facts)) if has(key, language) else ""

    def as_dict(self, language: str = "en") -> dict[str, str]:
        return {"area": self.area, "level": self.level, "message": self.message(language), "mend": self.mend(language)}


def finding(area: str, level: Level, key: str, **facts: object) -> Finding:
    """A finding with a sentence of its own."""
    return Finding(area, level, key, tuple(facts.items()))


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What the doctor found.

    Attributes:
        findings: in reading order.
        providers: one of each of `engines.runtime.session.PROVIDERS`.
        values: what else was measured, under the names that `as_dict` gives it.
    """

    findings: tuple[Finding, ...]
    providers: tuple[ProviderStatus, ...]
    values: tuple[tuple[str, Any], ...]

    @property
    def level(self) -> Level:
        """The worst of all."""
        return max((each.level for each in self.findings), key=LEVELS.index, default="ok")

    def lines(self, language: str = "en") -> list[str]:
        """A line for each finding, what to do indented below it, a summary at the end."""
        lines = []
        for each in self.findings:
            lines.append(f"{text(f'doctor.level.{each.level}', language)}  {each.message(language)}")
            lines += [f"      {line}" for line in each.mend(language).splitlines()]
        return [*lines, text(f"doctor.summary.{self.level}", language)]

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        """Plain values, fit for JSON: `level`, `findings`, `providers` (each with the reason why it can't run) and all `values`."""
        providers = [
            {
                "name": each.name,
                "usable": each.usable,
                "reason": each.reason,
                "message": "" if each.usable else each.error().message(language),
            }
            for each in self.providers
        ]
        return {
            "level": self.level,
            "findings": [each.as_dict(language) for each in self.findings],
            "providers": providers,
            **dict(self.values),
        }
