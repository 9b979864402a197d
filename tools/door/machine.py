"""What this machine has: an NVIDIA driver, a browser for the tests."""

import os
import re
import shutil
import subprocess
import sys

from tools.door.words import Stop, say, words

CUDA_DRIVER = 580  # onnxruntime-gpu is built for CUDA 13, whose first driver branch is 580 (NVIDIA, CUDA compatibility)
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
BROWSER_FILES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "{ProgramFiles}/Google/Chrome/Application/chrome.exe",
    "{ProgramFiles(x86)}/Microsoft/Edge/Application/msedge.exe",
)


def nvidia() -> bool:
    """Whether an NVIDIA driver is there. Looks at files only, since every start asks."""
    if sys.platform == "win32":
        return os.path.exists(os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "nvcuda.dll"))
    return bool(shutil.which("nvidia-smi")) or any(os.path.exists(f"{folder}/libcuda.so.1") for folder in LIBRARY_FOLDERS)


def cuda_usable() -> bool:
    """Whether that driver can run what the extra `gpu` installs; says so either way."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True).stdout.strip().partition("\n")[0]
    except (OSError, subprocess.SubprocessError):
        driver = ""
    branch = driver.partition(".")[0]
    usable = branch.isdigit() and int(branch) >= CUDA_DRIVER
    say("gpu" if usable else "driver", driver=driver or "?", needed=CUDA_DRIVER)
    return usable


def find_browser(wish: str) -> str:
    """A Chromium-like browser for the tests of the page; "" when there is none.

    Raises:
        Stop: one is required (`wish`, or FUSION_STUDIO_REQUIRE_BROWSER=1) and there is none; FUSION_STUDIO_CHROMIUM names no program.
    """
    given = os.environ.get("FUSION_STUDIO_CHROMIUM", "")
    if given and not shutil.which(given):
        raise Stop("browser_wrong", path=given)
    files = [re.sub(r"\{(.*?)\}", lambda name: os.environ.get(name[1], ""), file) for file in BROWSER_FILES]
    found = next(filter(None, map(shutil.which, [given, *BROWSERS, *files])), None)
    if not found and (wish == "required" or os.environ.get("FUSION_STUDIO_REQUIRE_BROWSER") == "1"):
        raise Stop("browser_required", how=words("browser_how"))
    if not found:
        say("browser_none", how=words("browser_how"))
    return found or ""
