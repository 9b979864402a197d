"""Every way in which the studio can say no.

    FusionError
    ├── InputError
    │   ├── UnreadableImage        unreadable_image       empty · cut off · a web page · text · unknown codec
    │   ├── ImageTooLarge          image_too_large        more pixels than the limit, read from the header
    │   ├── NoFace                 no_face                nothing that is a face, and in which picture
    │   ├── FaceIndexError         face_index             number 5 was asked for, there is 1
    │   ├── NoMatch                no_match               no face is like the reference, or none is at the place
    │   ├── FaceNotUsable          face_not_usable        too small, turned away, mesh doesn't settle
    │   ├── FaceUnchanged          face_unchanged         the fusion left the chosen face as it was
    │   ├── ContentRefused         content_refused        the safety check said no
    │   ├── PhotoRefused           photo_refused          one of a persona's photos can't be used, and why
    │   ├── NotOnePerson           not_one_person         a persona's photos show several people
    │   ├── PersonaUnusable        persona_unusable       a persona's file is damaged, of another studio or a newer one
    │   ├── PresetUnusable         preset_unusable        a preset's file is none, is newer, or names an option that doesn't exist
    │   ├── PictureSizeRefused     picture_size_refused   a multimodal model doesn't take a picture of that size
    │   ├── TokenizerUnusable      tokenizer_unusable     a tokenizer's file is missing, changed, or is none
    │   ├── ProcessorUnusable      processor_unusable     a model's preprocessor_config.json doesn't say how pictures are cut
    │   ├── PromptsUnreadable      prompts_unreadable     a file or folder of prompts has none that can be read
    │   ├── WeightsUnusable        weights_unusable       a folder, or a name on the hub, holds no model of the kind that is needed
    │   └── InvalidOption          invalid_option         a value outside its range
    ├── OutputError
    │   ├── OutputExists           output_exists          never over a file without being told to
    │   ├── OutputUnwritable       output_unwritable      no folder, no permission, disk full
    │   └── MarkNotRead            mark_not_read          the mark did not read back from the encoded bytes
    ├── ModelError
    │   ├── ModelUnknown           model_unknown          not in models.toml
    │   ├── ModelMissing           model_missing          the file isn't there
    │   ├── ModelCorrupt           model_corrupt          the file isn't what its hash says
    │   ├── LicenceNotAccepted     licence_not_accepted   shown and accepted once, by name
    │   ├── DownloadFailed         download_failed        no network, 403, cut off
    │   └── ManifestInvalid        manifest_invalid       models.toml itself is wrong, and where
    ├── ProviderUnavailable        provider_unavailable   asked for and not active, with the reason
    ├── SessionContract            session_contract       wrong name, dtype or shape for a graph
    ├── RunFailed                  run_failed             a graph broke off while it ran; memory among the reasons
    ├── KeyUnusable                key_unusable           the watermark key is damaged or readable by others
    ├── LedgerUnusable             ledger_unusable        the ledger of outputs is damaged or can't be written
    ├── CredentialsUnusable        credentials_unusable   outputs can't be signed as the settings ask
    ├── TestsMissing               tests_missing          `fusion-studio test` outside a checkout
    ├── ExtraMissing               extra_missing          what was asked for needs packages of an extra
    ├── DesktopMissing             desktop_missing        a window of its own was asked for without its extra
    └── Cancelled                  cancelled              somebody pressed stop

An error is a `code`, a `reason` within that code, and facts. The words come from `assets/locales/*/errors.json`,
in the reader's language: `errors.<code>.<reason>.message`, or `errors.<code>.message` where one sentence fits all;
likewise `.hint`, the line that tells what to do.
"""

from typing import Any, ClassVar

from engines.text import has, localised, text


class FusionError(Exception):
    """Base of all errors that a person may meet.

    Args:
        reason: names the sentence within the code; "" takes the code's own sentence.
        facts: what the sentence's placeholders need. Never a picture, a key or a whole file's content.
    """

    code: ClassVar[str] = "fusion_error"

    def __init__(self, reason: str = "", **facts: object) -> None:
        self.reason, self.facts = reason, facts
        super().__init__(self.message())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.reason, self.facts)

    def message(self, language: str = "en") -> str:
        """One sentence: what happened."""
        return self._sentence("message", language)

    def hint(self, language: str = "en") -> str:
        """One sentence: what to do about it."""
        return self._sentence("hint", language)

    def as_dict(self, language: str = "en") -> dict[str, str]:
        """`{"code", "message", "hint"}`, the shape that the CLI and the API answer with."""
        return {"code": self.code, "message": self.message(language), "hint": self.hint(language)}

    def _sentence(self, part: str, language: str) -> str:
        key = f"errors.{self.code}.{self.reason}.{part}"
        facts = self._localised(language)
        return text(key if self.reason and has(key, language) else f"errors.{self.code}.{part}", language, **facts)

    def _localised(self, language: str) -> dict[str, object]:
        return localised(self.facts, language)


def _rebuild(kind: type[FusionError], reason: str, facts: dict[str, object]) -> FusionError:
    return kind(reason, **facts)


class InputError(FusionError):
    """Something is wrong with what was given."""


class UnreadableImage(InputError):
    """The bytes are not a whole picture. Facts: name, and what the reason needs.

    Reasons: empty, truncated, damaged, web_page, text, other, unknown, codec, missing, folder, permission, too_big_file, disk.
    """

    code = "unreadable_image"


class ImageTooLarge(InputError):
    """More pixels than `Settings.max_megapixels`, known from the header alone; or (reason memory) than this machine has room for."""

    code = "image_too_large"


class NoFace(InputError):
    """No face in a picture. Facts: role ("source" or "target")."""

    code = "no_face"

    def message(self, language: str = "en") -> str:
        return text(f"errors.no_face.{self.facts['role']}.message", language)


class FaceIndexError(InputError):
    """A face number that the picture doesn't have. Facts: role, index, count."""

    code = "face_index"


class NoMatch(InputError):
    """No face is the one that was meant. Facts: nearest (distance), threshold, count; reason place: x, y."""

    code = "no_match"


class FaceNotUsable(InputError):
    """A face that can't be fused well, so isn't. Facts: role, index, verdict (its reason), and what the verdict's sentence needs.

    The hint is that of the verdict: `errors.face_not_usable.<verdict>.hint`.
    """

    code = "face_not_usable"

    def hint(self, language: str = "en") -> str:
        key = f"errors.{self.code}.{self.facts['verdict']}.hint"
        return text(key, language, **self._localised(language)) if has(key, language) else super().hint(language)

    def _localised(self, language: str) -> dict[str, object]:
        facts = super()._localised(language)
        return facts | {"why": text(f"verdicts.{facts['verdict']}", language, **facts)}


class FaceUnchanged(InputError):
    """The chosen face came out as it went in. Reasons: same, mask (it leaves nothing to change). Facts: index."""

    code = "face_unchanged"


class ContentRefused(InputError):
    """The safety check scored a picture above the limit. Facts: role, score, limit."""

    code = "content_refused"


class PhotoRefused(InputError):
    """One of a persona's photos can't be used. Facts: photo (its number from 1, and its name where it has one), fault (the error)."""

    code = "photo_refused"

    def hint(self, language: str = "en") -> str:
        fault = self.facts["fault"]
        return fault.hint(language) if isinstance(fault, FusionError) else super().hint(language)

    def _localised(self, language: str) -> dict[str, object]:
        facts = super()._localised(language)
        fault = facts["fault"]
        return facts | {"fault": (fault.message(language) if isinstance(fault, FusionError) else str(fault)).rstrip(".。")}


class NotOnePerson(InputError):
    """Photos that should show one person don't. Facts: photos (the odd ones), count, distance (the largest), limit."""

    code = "not_one_person"


class PersonaUnusable(InputError):
    """A persona can't be read. Facts: name.

    Reasons: not_a_persona, damaged (cut off among it), key (encrypted by another studio), newer, older (made by a version that kept less),
    too_large (fact: limit, MB).
    """

    code = "persona_unusable"


class PresetUnusable(InputError):
    """A preset can't be read. Facts: name.

    Reasons: not_a_preset, newer, option (fact: fault, the error), unknown (neither a name nor a file; fact: known).
    """

    code = "preset_unusable"

    def _localised(self, language: str) -> dict[str, object]:
        facts = super()._localised(language)
        fault = facts.get("fault")
        return facts | {"fault": (fault.message(language) if isinstance(fault, FusionError) else str(fault)).rstrip(".。")}


class PictureSizeRefused(InputError):
    """A multimodal model's processor doesn't take a picture of that size. Facts: model, width, height, detail."""

    code = "picture_size_refused"


class TokenizerUnusable(InputError):
    """A tokenizer's file. Reasons: missing, changed (path), damaged (detail), too_large (most, in MB). Fact: name."""

    code = "tokenizer_unusable"


class ProcessorUnusable(InputError):
    """A model's preprocessor_config.json. Reasons: damaged, unknown (kind, known), missing (field), wrong (detail). Fact: name."""

    code = "processor_unusable"


class PromptsUnreadable(InputError):
    """A file or folder of prompts. Reasons: missing, none, too_large (most, in MB), encoding, line (line). Fact: name."""

    code = "prompts_unreadable"


class WeightsUnusable(InputError):
    """Weights that a setting names. Facts: name, setting. Reasons: unreadable (detail), kind (detail: what it is instead)."""

    code = "weights_unusable"


class InvalidOption(InputError):
    """A value outside its range or list. Facts: name, value, allowed.

    Reasons for points set by hand: outside (of the picture; x, y, width, height), together, mirrored, no_picture (a persona has none).
    Reason persona_identity: a persona of another identity model than the one needed (made, needed).
    For several faces: too_few (facts: sources, faces), twice (fact: index), nobody (no source for any face), several (sources and no way
    of choosing), ways (two of them; fact: first), map_and_source.
    For masks: no_area, paint_size. For the visible label: label_font (fact: missing), label_room (width, height).
    """

    code = "invalid_option"


class OutputError(FusionError):
    """The result can't be kept."""


class OutputExists(OutputError):
    """A file stands where the output should go, and overwriting wasn't asked for. Facts: path."""

    code = "output_exists"


class OutputUnwritable(OutputError):
    """Reasons: folder, not_a_folder, is_a_folder, permission, disk_full, name_too_long, format, codec, no_suffix, size, video.

    Facts: path, detail.
    """

    code = "output_unwritable"


class MarkNotRead(OutputError):
    """The watermark or a label did not read back from the encoded bytes; nothing was written. Facts: what."""

    code = "mark_not_read"


class ModelError(FusionError):
    """A model file isn't as it must be."""


class ModelUnknown(ModelError):
    """No entry of that name. Facts: name, known."""

    code = "model_unknown"


class ModelMissing(ModelError):
    """Facts: name, file, folder."""

    code = "model_missing"


class ModelCorrupt(ModelError):
    """The hash doesn't fit. Reason: graph (the bytes are no network; fact: detail). Facts: name, file, folder."""

    code = "model_corrupt"


class LicenceNotAccepted(ModelError):
    """Facts: name, licence."""

    code = "licence_not_accepted"


class DownloadFailed(ModelError):
    """Facts: name, detail.

    Reasons: offline, refused, cut_off, proxy, wrong_file (the hash doesn't fit), no_source, own (a person's own entry without an address).
    """

    code = "download_failed"


class ManifestInvalid(ModelError):
    """models.toml can't be read. Facts: path, where (the key in the file), detail."""

    code = "manifest_invalid"


class ProviderUnavailable(FusionError):
    """The provider asked for isn't the one that would run.

    Reasons: broken, not_built, plugin, driver, no_device, library, session, silent. Facts: provider, why.
    """

    code = "provider_unavailable"


class SessionContract(FusionError):
    """A graph was fed, or declared, something that it doesn't have. Facts: graph, detail."""

    code = "session_contract"


class RunFailed(FusionError):
    """A graph broke off while it ran. Reason: memory. Facts: graph, provider, detail."""

    code = "run_failed"


class KeyUnusable(FusionError):
    """Reasons: damaged, permissions, unwritable. Facts: path, detail."""

    code = "key_unusable"


class LedgerUnusable(FusionError):
    """Reasons: damaged, unwritable, newer (of a later version). Facts: path, detail."""

    code = "ledger_unusable"


class CredentialsUnusable(FusionError):
    """Outputs can't be signed, or signatures not be checked, as the settings ask. Facts: path, detail.

    Reasons: missing (the library), damaged, permissions, unwritable (the installation's own certificates), certificate (the operator's),
    list (of authorities), signing.
    """

    code = "credentials_unusable"


class ExtraMissing(FusionError):
    """Packages of an extra aren't installed. Facts: packages, extra."""

    code = "extra_missing"


class DesktopMissing(FusionError):
    """`--window` needs the extra `desktop` (pywebview)."""

    code = "desktop_missing"


class TestsMissing(FusionError):
    """The tests, or what they need, aren't installed."""

    __test__ = False  # its name would have pytest collect it
    code = "tests_missing"


class Cancelled(FusionError):
    """The person stopped the job. Nothing was written."""

    code = "cancelled"
