"""The addresses beside the page, over plain HTTP."""

from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def client(server: Any) -> Any:
    """A visitor without a browser: cookies kept, page fetched."""
    with httpx.Client(base_url=server.address, trust_env=False, timeout=60) as client:
        client.get("/")
        yield client


@pytest.fixture
def stranger(server: Any) -> Any:
    with httpx.Client(base_url=server.address, trust_env=False, timeout=60) as client:
        client.get("/")
        yield client


def test_health(client: httpx.Client) -> None:
    from engines import __version__

    answer = client.get("/api/v1/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["version"] == __version__
    assert answer.json()["provider"] == "cpu"


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/favicon.ico", "image/x-icon"),
        ("/theme/icon.svg", "image/svg+xml"),
        ("/theme/kit.js", "text/javascript"),
        ("/examples/cat.jpg", "image/jpeg"),
    ],
)
def test_what_is_shipped_is_served(client: httpx.Client, path: str, media_type: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(media_type)


@pytest.mark.parametrize(
    "path", ["/theme/..%2Flocales%2Fen%2Fpage.json", "/examples/NOTICE", "/theme/nothing.css", "/media/nothing", "/theme/"]
)
def test_nothing_else_is(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_it_can_be_installed(client: httpx.Client) -> None:
    manifest = client.get("/manifest.json").json()
    assert manifest["display"] == "standalone"
    assert manifest["name"] == "Fusion Studio"
    for icon in manifest["icons"]:
        assert client.get(icon["src"]).headers["content-type"] == "image/png"
    assert client.get("/manifest.json", headers={"accept-language": "zh-CN"}).json()["name"] == "融合工作室"


def test_the_page_speaks_the_browsers_language(client: httpx.Client) -> None:
    for language, title in (("en-US", "Fusion Studio"), ("zh-CN,zh;q=0.9", "融合工作室")):
        page = client.get("/", headers={"accept-language": language}).text
        assert f'"title":"{title}"' in page
        assert "⟦" not in page
        assert "github" not in page.split("gradio_config")[0]


def test_an_upload_is_its_visitors_alone(client: httpx.Client, stranger: httpx.Client, server: Any) -> None:
    token = client.post("/media", params={"name": "../../x.png"}, content=b"mine").json()["token"]
    assert client.get(f"/media/{token}").content == b"mine"
    assert stranger.get(f"/media/{token}").status_code == 404
    assert httpx.get(f"{server.address}media/{token}", trust_env=False, timeout=60).status_code == 404
    assert b"mine" not in stranger.get(f"/media/{token}").content


def test_an_upload_by_gradios_client_is_its_visitors_alone(client: httpx.Client, stranger: httpx.Client) -> None:
    path = client.post("/gradio_api/upload", files={"files": ("x.png", b"mine")}).json()[0]
    assert client.get(f"/gradio_api/file={path}").content == b"mine"
    assert stranger.get(f"/gradio_api/file={path}").status_code == 404
    assert path != client.post("/gradio_api/upload", files={"files": ("x.png", b"mine")}).json()[0]  # not named by its content


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/self/environ"])
def test_no_file_of_the_machine_is_served(client: httpx.Client, path: str) -> None:
    assert client.get(f"/gradio_api/file={path}").status_code == 404


def test_not_even_the_key(client: httpx.Client, server: Any) -> None:
    key = Path(server.data_dir) / "keys" / "mark.key"
    assert key.is_file()
    assert client.get(f"/gradio_api/file={key}").status_code == 404


def test_other_pages_and_hosts_are_refused(client: httpx.Client) -> None:
    assert client.post("/media", content=b"x", headers={"origin": "http://elsewhere.example"}).status_code == 403
    assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 421


def test_a_picture_is_shown_and_anything_else_only_downloaded(client: httpx.Client) -> None:
    """An HTML file that somebody uploads never runs on the studio's own address."""
    token = client.post("/media", params={"name": "x.html"}, content=b"<script>alert(1)</script>").json()["token"]
    answer = client.get(f"/media/{token}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_report_speaks_both_languages(client: httpx.Client) -> None:
    english = client.get("/page/doctor").text
    chinese = client.get("/page/doctor", headers={"accept-language": "zh"}).text
    assert "<h2" in english
    assert english != chinese
    assert client.get("/page/status").json()["state"] == "ready"
