"""The tree under test: the files that git knows, or all of them where there is no git."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def files(*patterns):
    """Paths below the root that match one of git's patterns; only those that exist."""
    words = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    # Root in CI may not own the clone; git then refuses to read it unless told that it is safe.
    environment = dict(os.environ, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
    names = subprocess.run(words, check=True, capture_output=True, env=environment).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def includes(path):
    """(bracket, name) of each include of a file: ("<", "vector"), ('"', "http/exchange.hpp")."""
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def name(path):
    return str(path.relative_to(ROOT))
