"""Whether the libraries of a build are all there, and what to do about those that are not."""

import glob
import os
import re

from . import commands, elf
from .errors import MissingLibrary
from .pack import NOT_INHERITED

DEBIAN_PACKAGE_OF = {  # of what release builds are known to want of the system
    "libgomp.so.1": "libgomp1",
    "libssl.so.3": "libssl3",
    "libcrypto.so.3": "libssl3",
    "libvulkan.so.1": "libvulkan1",
    "libstdc++.so.6": "libstdc++6",
}
OF_ROCM = re.compile(r"lib(amd|hip|hsa|roc|rccl|rocm)")
ROCM_PLACES = "/opt/rocm*/lib"


def refuse_missing(folder, loader):
    """MissingLibrary that names all that the programs and libraries in a folder lack here.

    `loader` is the name of the folder's own one, or None for the system's.
    """
    missing = set()
    for path in sorted(folder.iterdir()):
        if path.name != loader and path.is_file() and elf.is_elf(path):
            missing |= unresolved(path, [folder / loader, "--list"] if loader else ["ldd"])
    if missing:
        missing = sorted(missing)
        raise MissingLibrary(f"missing library: {', '.join(missing)}: {mend(missing)}")


def unresolved(path, list_command):
    """As the loader tells it to a process without LD_LIBRARY_PATH, which llamavisor's children are."""
    environment = {key: text for key, text in os.environ.items() if not NOT_INHERITED.match(key)}
    _, out, err = commands.capture([*list_command, path], environment)
    return {*re.findall(r"^\s*(\S+) => not found", out, re.MULTILINE),
            *re.findall(r"version `(\S+)' not found", out + err)}


def mend(missing):
    if version := next((name for name in missing if name.startswith(("GLIBC_", "GLIBCXX_", "CXXABI_"))), None):
        return f"this build is for a newer system than this one ({version}); take an older build, or Debian's packages"
    if any(map(OF_ROCM.match, missing)):
        return mend_rocm(missing)
    if packages := sorted({DEBIAN_PACKAGE_OF[name] for name in missing if name in DEBIAN_PACKAGE_OF}):
        return f"on Debian, apt-get install {' '.join(packages)}"
    return "install what has it"


def mend_rocm(missing):
    """AMD's packages put it into a folder that the loader does not look into by itself."""
    for place in sorted(glob.glob(ROCM_PLACES), reverse=True):
        if all(os.path.exists(os.path.join(place, name)) for name in missing if OF_ROCM.match(name)):
            return (f"ROCm is in {place}, which the loader does not know; as root: "
                    f"echo {place} > /etc/ld.so.conf.d/rocm.conf && ldconfig")
    return "this build expects ROCm on the machine, of the version that it was made with (docs/engines.md)"
