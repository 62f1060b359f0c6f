"""What the tests of the programs share: runs, packs whose server is a script, and their traces."""

import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PATIENCE = 60  # seconds until a test gives up: a guard against hanging, never a measure
HERE = Path(__file__).resolve().parent
TOOL = os.environ.get("LLAMAVISOR_BIN", "llamavisor")
CHAT = os.environ.get("LLAMAVISOR_CHAT_BIN", "llamavisor-chat")

# A server that says that it loads, and never does; deaf to SIGTERM.
DEAF_SERVER = "#!/bin/sh\ntrap '' TERM\necho 'main: loading model' >&2\nexec tail -f /dev/null\n"


def required(variable):
    value = os.environ.get(variable)
    if not value:
        raise AssertionError(f"{variable} is not set: tools/test makes engines and models, and sets it")
    return value


def engine():
    return required("LLAMAVISOR_TEST_CPU_ENGINE")


def model():
    return required("LLAMAVISOR_TEST_ASCII_MODEL")


def write_pack(folder, script=DEAF_SERVER, **changes):
    """A pack with a shell script for a server."""
    folder.mkdir(parents=True)
    server = folder / "llama-server"
    server.write_text(script)
    server.chmod(0o755)
    description = {"format": 1, "flavour": "cpu", "build": 7000, "version": "0.0.1 (build 7000)",
                   "executable": "llama-server", "loader": None, "start": "direct", "path": str(folder),
                   "flags": [], "source": {"kind": "system"}}
    (folder / "engine.json").write_text(json.dumps({**description, **changes}))
    return folder


def wait_until(what, condition):
    """The first true value of the condition."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"waited in vain: {what}")


def children(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def alive(pid):
    """A zombie is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def processor_time(pid):
    """In seconds, of a process that lives."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, in which the programs keep their sockets and their state."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name).resolve()
        self.sockets = self.folder / "run"
        self.sockets.mkdir()
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("LLAMAVISOR_", "XDG_", "NO_COLOR"))}
        self.environment.update(HOME=str(self.folder), XDG_STATE_HOME=str(self.folder / "state"),
                                XDG_RUNTIME_DIR=str(self.sockets), TERM="xterm", LLAMAVISOR_DEVICE="cpu")
        self.servers = []

    def tearDown(self):
        """Whatever a test did: no server and no socket is left behind."""
        left = [pid for pid in self.servers if alive(pid)]
        self.assertEqual(left, [], "servers that are left behind")
        self.assertEqual(list(self.sockets.iterdir()), [], "sockets that are left behind")

    def generate(self, *words, prompt="Hello"):
        """The words of a run on the real engine and the small model."""
        return [TOOL, "generate", "-m", model(), "--engine", engine(), "--threads", "1", "-p", prompt,
                "--temperature", "0", *words]

    def chat(self, *words):
        return [CHAT, "-m", model(), "--engine", engine(), "--threads", "1", "--temperature", "0", *words]

    def run_program(self, words, **options):
        """Runs it to its end, with bytes for stdin (`input`) and its output as bytes."""
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "env": self.environment, **options}
        if "input" in options:
            del options["stdin"]
        return subprocess.run([str(word) for word in words], timeout=PATIENCE, check=False, **options)

    def run_json(self, words, status=0, **options):
        result = self.run_program([*words, "--json"], **options)
        self.assertEqual(result.returncode, status, result.stderr.decode())
        return json.loads(result.stdout)

    def start(self, words, **options):
        """Starts it; the process is ended and waited for after the test."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "env": self.environment, **options}
        process = subprocess.Popen([str(word) for word in words], **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def server_of(self, process):
        """The pid of its llama-server, as soon as it has one; it has to be gone after the test."""
        pid = wait_until("a server process", lambda: children(process.pid))[0]
        self.servers.append(pid)
        return pid

    def assert_error(self, result, status, *parts):
        """This status, nothing on stdout, one line on stderr that holds all parts."""
        said = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (status, b""), said)
        self.assertRegex(said, r"\A[^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, said)
