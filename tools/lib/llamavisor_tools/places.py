"""Where packs and what is fetched for them lie."""

import os
from pathlib import Path


def user_folder(variable, default):
    """An XDG folder; the specification wants relative values ignored."""
    named = os.environ.get(variable, "")
    return Path(named if os.path.isabs(named) else os.path.expanduser(default))


def default_target(flavour):
    return user_folder("XDG_DATA_HOME", "~/.local/share") / "llamavisor/engines" / flavour


def cache_folder():
    named = os.environ.get("LLAMAVISOR_CACHE")
    return Path(named).absolute() if named else user_folder("XDG_CACHE_HOME", "~/.cache") / "llamavisor"
