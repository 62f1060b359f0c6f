"""One stock llama-server of a pack: started plainly, spoken to in plain HTTP over a Unix socket."""

import contextlib
import ctypes
import http.client
import json
import os
import platform
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from llamavisor_tools import commands

from .errors import ParityError

START_LIMIT, REQUEST_LIMIT, LIST_LIMIT = 900, 3600, 120  # seconds
LONGEST_SOCKET = 107  # bytes of a path

CLASSES = {"vulkan": "Vulkan", "rocm": "ROCm", "cuda": "CUDA", "metal": "Metal"}
# What would steer the server from outside, or break the pack.
NOT_INHERITED = re.compile(r"LLAMA_(ARG_|SERVER_|API_KEY$|TRACE$)|AIP_|HF_TOKEN$|MTMD_BACKEND_DEVICE$|LD_")


class Device:
    """A device as hosts name it: cpu, vulkan:0, rocm:1."""

    def __init__(self, text):
        match = re.fullmatch(r"(cpu)|(vulkan|rocm|cuda|metal)(?::(\d+))?", text.lower().replace("hip", "rocm"))
        if not match:
            raise ParityError(f"{text!r} is no device: cpu, vulkan:0, rocm:0, cuda:0, metal:0")
        self.kind = match[1] or match[2]
        self.name = "cpu" if match[1] else f"{self.kind}:{int(match[3] or 0)}"
        self.theirs = None if match[1] else f"{CLASSES[self.kind]}{int(match[3] or 0)}"  # "Vulkan0"

    @property
    def arguments(self):
        if not self.theirs:
            return ["--n-gpu-layers", "0", "--device", "none"]
        return ["--n-gpu-layers", "all", "--device", self.theirs]


def parse_devices(text):
    """{"Vulkan0": "llvmpipe (LLVM 21.1.8, 256 bits)"} of what --list-devices prints; memory left out."""
    _, _, rest = text.partition("Available devices:")
    lines = re.findall(r"^ +(\w+): (.*)$", rest, re.MULTILINE)
    return {name: re.sub(r" \(\d+ MiB, \d+ MiB free\)\s*$", "", words).strip() for name, words in lines}


def processor(path="/proc/cpuinfo"):
    """The name of the first processor."""
    with contextlib.suppress(OSError), open(path, errors="replace") as file:
        for line in file:
            key, _, name = line.partition(":")
            if key.strip() in ("model name", "Model", "cpu model"):
                return name.strip()
    return "unknown"


def driver(device, name, root="/"):
    """The GPU's kernel driver, where it has a version of its own; else the kernel. None for a processor."""
    place = "sys/module/amdgpu/version" if device.kind == "rocm" else "proc/driver/nvidia/version"
    if device.kind in ("cuda", "rocm") or "NVIDIA" in name:
        with contextlib.suppress(OSError), open(os.path.join(root, place), errors="replace") as file:
            return " ".join(file.readline().split())
    return f"{platform.system()} {platform.release()}" if device.theirs else None


def environment():
    kept = {key: text for key, text in os.environ.items() if not NOT_INHERITED.match(key)}
    return dict(kept, GGML_NO_BACKTRACE="1")


def hardware(pack, device):
    """What the device is. Raises ParityError where the engine does not list it: it would not be used."""
    if not device.theirs:
        return processor()
    try:
        _, out, err = commands.capture([*pack.command(), "--list-devices"], environment(), timeout=LIST_LIMIT,
                                       cwd=pack.folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ParityError(f"the engine does not list its devices: {error}") from None
    listed = parse_devices(out + err)
    if device.theirs not in listed:
        has = ", ".join(f"{name} ({words})" for name, words in listed.items()) or "none"
        raise ParityError(f"the engine in {pack.folder} has no {device.name}: it lists {has}")
    return listed[device.theirs]


def arguments(pack, device, model, context, threads):
    """What can move a number, in a fixed order; the model, the address and the key are left out."""
    words = ["--ctx-size", str(context), "--parallel", "1", "--threads", str(threads), *device.arguments,
             "--batch-size", "2048", "--ubatch-size", "512", "--fit", "off", "--cache-ram", "0",
             "--ctx-checkpoints", "0"]
    if model.sliding_window:
        words.append("--swa-full")
    if unknown := [word for word in words if word.startswith("--") and pack["flags"] and word not in pack["flags"]]:
        raise ParityError(f"the engine in {pack.folder} (build {pack['build']}) does not know {unknown[0]}")
    flags = pack["flags"]
    words.append("--no-ui" if not flags or "--no-ui" in flags else "--no-webui")
    return words + ["--offline"] * (not flags or "--offline" in flags)


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=REQUEST_LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class StockServer:
    """`with StockServer(command) as server`: ready inside, ended and reaped after it, whatever happens."""

    def __init__(self, pack, words, model_path):
        self.folder = tempfile.mkdtemp(prefix="llv-")
        if len(os.fsencode(self.folder)) + 9 > LONGEST_SOCKET:
            os.rmdir(self.folder)
            self.folder = tempfile.mkdtemp(prefix="llv-", dir="/tmp")
        self.socket = f"{self.folder}/g.sock"
        self.log_path = f"{self.folder}/log"
        self.key = secrets.token_hex(16)
        self.command = [*map(os.fspath, pack.command()), "--model", os.path.abspath(model_path), "--host",
                        self.socket, *words]
        self.process = None

    def __enter__(self):
        try:
            libc = ctypes.CDLL(None)
            with open(self.log_path, "wb") as log:
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env=dict(environment(), LLAMA_API_KEY=self.key),
                    preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))  # PR_SET_PDEATHSIG: we may be killed too
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process:
            commands.end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self):
        limit = time.monotonic() + START_LIMIT
        while time.monotonic() < limit:
            if self.process.poll() is not None:
                raise ParityError(f"llama-server ended with status {self.process.returncode}: {self.last_words()}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.call("GET", "/health")[0] == 200:
                    return
            time.sleep(0.05)
        raise ParityError(f"llama-server was not ready within {START_LIMIT} s: {self.last_words()}")

    def last_words(self):
        with open(self.log_path, errors="replace") as log:
            lines = [line.strip() for line in log.read()[-4000:].splitlines() if line.strip()]
        wrong = [line for line in lines if "error" in line.lower() or "fail" in line.lower()]
        return (wrong or lines or ["it said nothing"])[-1]

    def call(self, method, path, body=None):
        """(status, text of the answer)."""
        connection = Connection(self.socket)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def ask(self, method, path, body=None):
        """The value of an answer of status 200."""
        try:
            status, text = self.call(method, path, body)
            if status == 200:
                return json.loads(text)
        except (OSError, http.client.HTTPException) as error:
            ended = self.process.poll()
            raise ParityError(f"llama-server {'is gone' if ended is not None else 'does not answer'}: "
                              f"{self.last_words() if ended is not None else error}") from None
        except ValueError:
            raise ParityError(f"llama-server answered {path} with no JSON") from None
        raise ParityError(f"llama-server answered {path} with {status}: {text[:300]}")

    # ---- what the recorder asks

    def context(self):
        """Tokens of the one slot."""
        return self.ask("GET", "/props")["default_generation_settings"]["n_ctx"]

    def tokenize(self, text, add_special, parse_special):
        body = {"content": text, "add_special": add_special, "parse_special": parse_special}
        return self.ask("POST", "/tokenize", body)["tokens"]

    def render(self, messages):
        """The template's text, or None where it refuses these messages."""
        body = {"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}
        status, text = self.call("POST", "/apply-template", body)
        return json.loads(text)["prompt"] if status == 200 else None

    def complete(self, ids, **options):
        return self.ask("POST", "/completion", {"prompt": ids, "n_predict": 1, **options})
