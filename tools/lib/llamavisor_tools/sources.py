"""The Debian mirror that this machine's apt uses, out of sources.list and sources.list.d."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from .errors import NotAvailable

VARIABLE = "LLAMAVISOR_DEBIAN_MIRROR"


def one_line_entries(text):
    """URIs of `deb` lines: deb [option=value ...] URI suite component ..."""
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[[^\]]*\]\s*)?(\S+)\s+\S", line)
        if match:
            yield match[1]


def stanza_entries(text):
    """URIs of enabled `deb` stanzas in the deb822 form."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n[ \t]*(?:\n|$)", "\n".join(lines)):
        fields = {}
        for match in re.finditer(r"^(\S+?):((?:.*)(?:\n[ \t]+.*)*)", stanza, re.MULTILINE):
            fields[match[1].lower()] = match[2].split()
        enabled = fields.get("enabled", ["yes"])[0].lower() not in ("no", "false", "0", "off")
        if enabled and "deb" in fields.get("types", []):
            yield from fields.get("uris", [])


def is_main_archive(uri):
    """The archive's own tree: not -security, not a third party's; also a list of mirrors of it."""
    if urlsplit(uri).scheme == "cdrom":
        return False
    return re.search(r"/debian(\.list)?/*$", uri) is not None


def configured_uris(folder):
    folder = Path(folder)
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    for file in files:
        try:
            text = file.read_text(errors="replace")
        except OSError:
            continue
        if file.suffix == ".list":
            yield from one_line_entries(text)
        elif file.suffix == ".sources":
            yield from stanza_entries(text)


def debian_mirror(folder="/etc/apt", environment=os.environ):
    uri = environment.get(VARIABLE)
    if not uri:
        uri = next(filter(is_main_archive, configured_uris(folder)), None)
    if not uri:
        raise NotAvailable(
            f"no Debian mirror: apt's sources on this machine name none; set {VARIABLE} to the address "
            "of one (it ends in /debian), or use --from system")
    if not re.fullmatch(r"[a-z+]+:[^\s\"\[\]]+", uri):
        raise NotAvailable(f"no Debian mirror: {uri!r} is not an address")
    return uri.rstrip("/")
