"""What the tests of the tools share."""

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS / "lib"))


def load_script(name):
    """A script without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class FolderTest(unittest.TestCase):
    """A test with a folder of its own, `self.folder`, and quiet streams."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name).resolve()
        self.out, self.err = io.StringIO(), io.StringIO()
        streams = contextlib.ExitStack()
        self.addCleanup(streams.close)
        streams.enter_context(contextlib.redirect_stdout(self.out))
        streams.enter_context(contextlib.redirect_stderr(self.err))


SERVER_SCRIPT = """#!/bin/sh
case "$1" in
  --version) echo 'version: 0.7.0 (build 11669, commit abc)' >&2 ;;
  --help) printf -- '-m,    --model FNAME   the model\\n--host HOST  address\\n--port PORT  port\\n' ;;
  --list-devices) printf 'Available devices:\\n  (none)\\n' ;;
esac
"""


def write_pack(folder, flavour="cpu", **changes):
    """A pack whose server is a shell script that answers the questions that are asked of it."""
    folder.mkdir(parents=True, exist_ok=True)
    server = folder / "llama-server"
    server.write_text(SERVER_SCRIPT)
    server.chmod(0o755)
    (folder / "libggml-cpu-x64.so").write_bytes(b"code")
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
             if path.name != "engine.json"}
    description = {
        "format": 1, "flavour": flavour, "build": 11669, "version": "0.7.0 (build 11669, commit abc)",
        "executable": "llama-server", "loader": None, "start": "direct", "path": str(folder), "flags": ["-m"],
        "source": {"kind": "debian", "suite": "forky", "packages": []}, "files": files, "vulkan_icds": [],
    }
    description.update(changes)
    (folder / "engine.json").write_text(json.dumps(description))
    return folder


def write_kfd(root, versions):
    """The kernel's list of compute nodes, {number: gfx_target_version}, below a root; the folder of nodes."""
    nodes = root / "sys/class/kfd/kfd/topology/nodes"
    for number, version in versions.items():
        (nodes / str(number)).mkdir(parents=True, exist_ok=True)
        (nodes / str(number) / "properties").write_text(
            f"cpu_cores_count {0 if version else 8}\ngfx_target_version {version}\nvendor_id 4098\n")
    return nodes
