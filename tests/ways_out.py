"""Every way by which something can leave the studio, and what is said of it. `tests/studio/test_ways_out.py` finds the ways in the program
itself and holds them against these tables: a way that isn't declared here fails by its name.

A way out is one of four:

- a picture: what leaves says what it is, a fusion by mark and labels, a photo by carrying no word of AI. The test named with it takes
  what left and asks it.
- no picture, for a reason that stands beside it.
- as it came: what a visitor gave, back to that visitor alone.
- closed: the guard answers 404 before anything hears it.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["picture", "none", "as it came", "closed"]


@dataclass(frozen=True, slots=True)
class Way:
    """`told`: of a picture, the test that takes it ("file.py::test"); of the others, why."""

    kind: Kind
    told: str


def picture(test: str) -> Way:
    return Way("picture", test)


def none(why: str) -> Way:
    return Way("none", why)


PAGE = picture("tests/e2e/test_routes_out.py::test_nothing_leaves_the_page_without_saying_what_it_is")
ENDPOINT = picture("tests/e2e/test_routes_out.py::test_what_the_endpoints_give_says_what_it_is")
MODELS = picture("tests/e2e/test_routes_out.py::test_the_cards_of_models_say_what_they_are")
PEOPLE = picture("tests/e2e/test_routes_out.py::test_photos_of_one_person_stay_photos_and_a_persona_is_no_picture")
TOKENS = picture("tests/e2e/test_routes_out.py::test_the_tokens_tab_gives_a_crop_that_says_what_it_is_and_no_other_picture")
MASKS = picture("tests/e2e/test_routes_out.py::test_a_mask_says_what_it_lies_on")
VERIFY = picture("tests/e2e/test_routes_out.py::test_what_verify_shows_says_what_the_file_is")
COMMANDS_OUT = picture("tests/studio/test_commands_out.py::test_what_the_commands_write")
LOOKED_AT = picture("tests/studio/test_commands_out.py::test_what_the_commands_show_of_a_file")
MODELS_OUT = picture("tests/studio/test_commands_out.py::test_what_compare_writes")
PERSONA_OUT = picture("tests/studio/test_commands_out.py::test_a_persona_is_no_picture")
SHIPPED = picture("tests/studio/test_ways_out.py::test_the_shipped_photos_say_nothing_of_ai")
IN_PYTHON = picture("tests/studio/test_ways_out.py::test_what_python_is_given_is_marked")

OWN = Way("as it came", "a visitor's upload, to that visitor")
CLOSED = Way("closed", "the guard")
JSON = none("an answer in JSON: addresses on the shelf, numbers and words")
LOOK = none("the page's own look")
EVENTS_ONLY = none("an event begins or ends; its answer is in the queue's stream")

ROUTES: dict[str, Way] = {
    # the studio's own
    "GET /api/v1/health": JSON,
    "POST /media": none("an upload is answered with its token"),
    "POST /media/size": none("two numbers"),
    "POST /media/sizes": none("two numbers for each"),
    "GET /media/{token}": PAGE,  # what lies on the shelf: SHELF below
    "HEAD /media/{token}": none("no body"),
    "GET /media/{token}/there": none("yes or no"),
    "DELETE /media/{token}": none("no body"),
    "POST /media/{token}/hold": none("no body"),
    "DELETE /media/{token}/hold": none("no body"),
    "POST /gradio_api/upload": none("an upload is answered with its path"),
    "GET /gradio_api/file={path:path}": ENDPOINT,
    "HEAD /gradio_api/file={path:path}": none("no body"),
    "GET /page/status": JSON,
    "GET /page/doctor": none("words"),
    "GET /manifest.json": JSON,
    "GET /favicon.ico": LOOK,
    "GET /theme/{name}": LOOK,
    "GET /examples/{name}": SHIPPED,
    # Gradio's, open
    "GET /": none("the page: markup and words"),
    "HEAD /": none("no body"),
    "GET /config": none("the page's components: markup and words"),
    "GET /config/": none("the page's components: markup and words"),
    "GET /openapi.json": JSON,
    "HEAD /openapi.json": none("no body"),
    "GET /svelte/{path:path}": LOOK,
    "GET /static/{path:path}": LOOK,
    "GET /assets/{path:path}": LOOK,
    "GET /theme.css": LOOK,
    "GET /robots.txt": LOOK,
    "GET /pwa_icon/{size}": LOOK,
    "GET /pwa_icon": LOOK,
    "GET /gradio_api/user/": JSON,
    "GET /gradio_api/user": JSON,
    "GET /gradio_api/app_id/": JSON,
    "GET /gradio_api/app_id": JSON,
    "GET /gradio_api/info": JSON,
    "GET /gradio_api/info/": JSON,
    "GET /gradio_api/openapi.json": JSON,
    "GET /gradio_api/file={path_or_url:path}": CLOSED,  # ours of the same name stands before it
    "HEAD /gradio_api/file={path_or_url:path}": CLOSED,
    "POST /gradio_api/reset": EVENTS_ONLY,
    "POST /gradio_api/reset/": EVENTS_ONLY,
    "GET /gradio_api/heartbeat/{session_hash}": EVENTS_ONLY,
    "POST /gradio_api/api/{api_name}/": JSON,
    "POST /gradio_api/api/{api_name}": JSON,
    "POST /gradio_api/run/{api_name}/": JSON,
    "POST /gradio_api/run/{api_name}": JSON,
    "POST /gradio_api/call/v2/{api_name}/": EVENTS_ONLY,
    "POST /gradio_api/call/v2/{api_name}": EVENTS_ONLY,
    "POST /gradio_api/call/{api_name}/": EVENTS_ONLY,
    "POST /gradio_api/call/{api_name}": EVENTS_ONLY,
    "POST /gradio_api/queue/join": EVENTS_ONLY,
    "POST /gradio_api/cancel": EVENTS_ONLY,
    "GET /gradio_api/call/{api_name}/{event_id}": JSON,
    "GET /gradio_api/call/v2/{api_name}/{event_id}": JSON,
    "GET /gradio_api/queue/data": JSON,
    "GET /gradio_api/queue/status": JSON,
    "GET /gradio_api/upload_progress": JSON,
    "GET /gradio_api/startup-events": JSON,
    "GET /gradio_api/theme.css": LOOK,
} | dict.fromkeys(
    (
        "POST /login/", "POST /login", "GET /gradio_api/login_check/", "GET /gradio_api/login_check",
        "GET /logout", "GET /gradio_api/deep_link", "GET /monitoring", "GET /monitoring/summary",
        "GET /monitoring/{key}", "GET /gradio_api/token/", "GET /gradio_api/token", "GET /gradio_api/dev/reload",
        "GET /gradio_api/runs/", "GET /gradio_api/runs", "GET /gradio_api/custom_component/{id}/{environment}/{type}/{file_name}",
        "GET /gradio_api/proxy={url_path:path}", "HEAD /gradio_api/proxy={url_path:path}", "POST /gradio_api/stream/{event_id}",
        "POST /gradio_api/stream/{event_id}/close", "GET /gradio_api/stream/{session_hash}/{run}/{component_id}/playlist.m3u8",
        "GET /gradio_api/stream/{session_hash}/{run}/{component_id}/{segment_id}.{ext}",
        "GET /gradio_api/stream/{session_hash}/{run}/{component_id}/playlist-file", "GET /gradio_api/file/{path:path}",
        "POST /gradio_api/component_server/", "POST /gradio_api/component_server", "POST /gradio_api/process_recording",
        "POST /gradio_api/vibe-edit", "POST /gradio_api/vibe-edit/", "POST /gradio_api/undo-vibe-edit",
        "POST /gradio_api/undo-vibe-edit/", "GET /gradio_api/vibe-code", "GET /gradio_api/vibe-code/", "POST /gradio_api/vibe-code",
        "POST /gradio_api/vibe-code/", "POST /gradio_api/vibe-starter-queries", "POST /gradio_api/vibe-starter-queries/",
    ),
    CLOSED,
)  # fmt: skip

WORDS = none("words and numbers for the page")
FOR_THE_BOX = none("the box's value, carried to another tab or emptied; its addresses are those of the shelf")

EVENTS: dict[str, Way] = {  # what Gradio may run: module and function
    "studio.api:Endpoints.fuse": ENDPOINT,
    "studio.api:Endpoints.mask": ENDPOINT,
    "studio.api:Endpoints.compare": ENDPOINT,
    "studio.api:Endpoints.faces": WORDS,
    "studio.api:Endpoints.tokens": WORDS,
    "studio.api:Endpoints.verify": WORDS,
    "studio.app:build_page.<locals>.leave": WORDS,
    "studio.remembered:numbers.<locals>.<lambda>": WORDS,
    "studio.tabs.align:AlignHandlers.look": PAGE,
    "studio.tabs.align:AlignHandlers.cut": PAGE,
    "studio.tabs.align:AlignHandlers.clear": FOR_THE_BOX,
    "studio.tabs.align:AlignHandlers.use": FOR_THE_BOX,
    "studio.tabs.encoding:EncodingHandlers.waiting": WORDS,
    "studio.tabs.encoding:EncodingHandlers.encode": WORDS,
    "studio.tabs.encoding:EncodingHandlers.forget": WORDS,
    "studio.tabs.faces:FaceMapHandlers.match": WORDS,
    "studio.tabs.folder:FolderHandlers.count": TOKENS,
    "studio.tabs.fusion:FusionHandlers.example": PAGE,
    "studio.tabs.fusion:FusionHandlers.fuse": PAGE,
    "studio.tabs.fusion:FusionHandlers.look": PAGE,
    "studio.tabs.fusion:FusionHandlers.look_source": PAGE,
    "studio.tabs.fusion:FusionHandlers.stop": WORDS,
    "studio.tabs.looking:LookingHandlers.look": WORDS,
    "studio.tabs.looking:LookingHandlers.forget": WORDS,
    "studio.tabs.looking:build.<locals>.<lambda>": WORDS,
    "studio.tabs.masks:MaskHandlers.show": MASKS,
    "studio.tabs.models:ModelHandlers.compare": MODELS,
    "studio.tabs.people:PeopleHandlers.gather": PEOPLE,
    "studio.tabs.people:PeopleHandlers.persona": PEOPLE,
    "studio.tabs.prompt:PromptHandlers.begin": WORDS,
    "studio.tabs.prompt:PromptHandlers.shorten": WORDS,
    "studio.tabs.text:TextHandlers.count": WORDS,
    "studio.tabs.text:TextHandlers.drop": WORDS,
    "studio.tabs.token_pictures:PictureHandlers.look": TOKENS,
    "studio.tabs.token_pictures:PictureHandlers.again": TOKENS,
    "studio.tabs.token_pictures:PictureHandlers.carry": FOR_THE_BOX,
    "studio.tabs.token_pictures:PictureHandlers.clear": FOR_THE_BOX,
    "studio.tabs.token_pictures:PictureHandlers.drop": WORDS,
    "studio.tabs.token_pictures:PictureHandlers.price_of": WORDS,
    "studio.tabs.token_pictures:PictureHandlers.restore": WORDS,
    "studio.tabs.token_pictures:PictureHandlers.type_price": WORDS,
    "studio.tabs.verify:VerifyHandlers.verify": VERIFY,
    "studio.tabs.verify:VerifyHandlers.clear": FOR_THE_BOX,
    "studio.tabs.verify_many:ManyHandlers.verify": VERIFY,
    "studio.tabs.verify_many:ManyHandlers.stop": WORDS,
}

# Components that a page may have: none of them encodes an array that a handler returns, as Gradio's picture components do.
COMPONENTS = {
    "Api", "BrowserState", "Button", "Checkbox", "Column", "Dropdown", "Form", "HTML", "Number", "Radio", "Row", "Slider", "Tab", "Tabs",
    "Textbox",
}  # fmt: skip

SHELF: dict[str, Way] = {  # who puts files where /media/{token} gives them out: module, function, how
    "studio.uploads:upload reserve": OWN,
    "studio.uploads:size reserve": none("of a picture of which only the size is wanted; never told, deleted at once"),
    "studio.uploads:api_upload register": OWN,
    "studio.tabs.fusion:_shelved add": SHIPPED,
    "studio.pictures:_shown add": PAGE,
    "studio.pictures:_tiles add": PAGE,
    "studio.tabs.fusion:FusionHandlers._fused add": PAGE,
    "studio.downloads:downloads promise": PAGE,
    "studio.batches:batch_of reserve": PAGE,
    "studio.batches:_pack promise": PAGE,
    "studio.tabs.align:AlignHandlers._face add": PAGE,
    "studio.tabs.align:AlignHandlers._face promise": PAGE,
    "studio.people:_entry add": PEOPLE,
    "studio.people:made_value add": PEOPLE,
    "studio.people:made_value promise": PEOPLE,
    "studio.tabs.masks:MaskHandlers.show add": MASKS,
    "studio.tabs.token_pictures:PictureHandlers._crop add": TOKENS,
    "studio.tabs.token_pictures:PictureHandlers._files add": TOKENS,
    "studio.tabs.folder:FolderHandlers.count add": TOKENS,
    "studio.verify_files:report_files add": VERIFY,
    "studio.api:Endpoints.fuse add": ENDPOINT,
    "studio.api:Endpoints.mask add": ENDPOINT,
    "studio.api:Endpoints.compare add": ENDPOINT,
}

NUMBERS = none("a table of words and numbers")

COMMANDS: dict[str, Way] = {  # what of a command's parameters names a file: command and parameter
    "fuse output": COMMANDS_OUT,
    "batch output": COMMANDS_OUT,
    "faces crops": COMMANDS_OUT,
    "mask output": LOOKED_AT,
    "verify heat": LOOKED_AT,
    "verify html": LOOKED_AT,
    "compare output": MODELS_OUT,
    "persona make output": PERSONA_OUT,
    "ledger export output": NUMBERS,
    "prompt output": NUMBERS,
} | dict.fromkeys(
    (
        "fuse pictures", "fuse match", "fuse paint", "batch targets", "batch source", "batch match", "batch paint", "faces image",
        "mask target", "mask paint", "compare source", "compare target", "verify files", "persona make photos", "persona show file",
        "tokens pictures", "steps image", "text file", "prompt source",
    ),
    none("is read"),
)  # fmt: skip

IN_MEMORY = none("a step inside; a file comes of it through `save` and `encode` alone, which take marked pictures and no others")
NO_IMAGE = none("bytes that are no picture")

PYTHON: dict[str, Way] = {  # public functions of `engines` that give a marked picture or write a file: module and function
    "engines.pipeline:Studio.fuse": IN_PYTHON,
    "engines.pipeline:Studio.fuse_faces": IN_PYTHON,
    "engines.pipeline:Studio.mark": IN_PYTHON,
    "engines.pipeline:Studio.mask": IN_PYTHON,
    "engines.pipeline:Studio.heat": IN_PYTHON,
    "engines.pipeline:Studio.encode": IN_PYTHON,
    "engines.pipeline:Studio.sign": IN_PYTHON,
    "engines.results:FusionResult.encode": IN_PYTHON,
    "engines.results:FusionResult.save": IN_PYTHON,
    "engines.marking:Marker.mark": IN_PYTHON,
    "engines.marking:Marker.preview_of": IN_PYTHON,
    "engines.marking:Marker.encode": IN_PYTHON,
    "engines.marking:Marker.sign": IN_PYTHON,
    "engines.marking:Marker.tinted": IN_PYTHON,
    "engines.marking:Marker.heat": IN_PYTHON,
    "engines.provenance.mark:mark": IN_PYTHON,
    "engines.provenance.mark:preview_of": IN_PYTHON,
    "engines.provenance.save:encode": IN_PYTHON,
    "engines.provenance.save:sign": IN_PYTHON,
    "engines.provenance.save:save": IN_PYTHON,
    "engines.provenance.save:write_encoded": IN_PYTHON,
    "engines.provenance.archive:bundle": PAGE,
    "engines.provenance.output:write_bytes": IN_MEMORY,
    "engines.provenance.output:write_text": none("a list or a report, in which small pictures are marked ones"),
    "engines.provenance.keys:rotate": NO_IMAGE,
    "engines.personas:Persona.save": PERSONA_OUT,
    "engines.manifest:Manifest.fetch": none("a model's file"),
}

SENT = none("goes to the studio: what the visitor painted or photographed")
HERE = none("stays in the visitor's browser: the picture that was just chosen there, until its preview is made")

SCRIPTS: dict[str, Way] = {  # where the page's scripts make a file, hand one out, or read the clipboard: file, call
    "brush.js toBlob": SENT,
    "give.js drawImage": SENT,
    "give.js toBlob": SENT,
    "panels.js createObjectURL": PAGE,  # a download, as the shelf gives it; and the chart
    "panels.js download": PAGE,
    "panels.js drawImage": TOKENS,  # the chart: bars and words
    "panels.js toBlob": TOKENS,
    "panels.js clipboard": none("a matrix as text"),
    "panels.js execCommand": none("a matrix as text"),
    "person.js download": PEOPLE,
    "picture.js clipboard": none("is read"),
    "picture.js createObjectURL": HERE,
    "targets.js createObjectURL": HERE,
    "presets.js createObjectURL": none("settings in JSON"),
    "presets.js download": none("settings in JSON"),
}

TABLES = {"routes": ROUTES, "events": EVENTS, "shelf": SHELF, "commands": COMMANDS, "python": PYTHON, "scripts": SCRIPTS}
