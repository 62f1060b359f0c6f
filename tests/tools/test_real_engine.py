"""With a real pack: fetches one, so only where LLAMAVISOR_TEST_ENGINES=1 is set."""

import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import builds
from support import TOOLS
from web import Web, ok


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server:
    """A llama-server with one slot and one thread, on a Unix socket, for the time of a `with`."""

    def __init__(self, folder, command, model):
        self.socket = str(folder / "x.sock")
        self.log = open(folder / "log", "w+")
        self.command = [*map(str, command), "-m", str(model), "--host", self.socket, "-t", "1", "-c", "8192",
                        "-np", "1", "--fit", "off", "--cache-ram", "0", "--no-ui", "--offline"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        limit = time.monotonic() + 60
        while time.monotonic() < limit and self.process.poll() is None:
            try:
                if self.call("GET", "/health")[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.02)
        self.__exit__()
        raise AssertionError(f"no server: {Path(self.log.name).read_text()[-2000:]}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        Path(self.socket).unlink(missing_ok=True)

    def call(self, method, path, body=None):
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def complete(self, prompt, **options):
        body = {"prompt": prompt, "n_predict": 300, "temperature": 0, "return_tokens": True, **options}
        status, answer = self.call("POST", "/completion", body)
        assert status == 200, answer
        return answer


PROMPTS = ["Hello", "Once upon a time", "Grüße aus Köln", "日本語テキスト", "<|im_start|>user\nhi<|im_end|>\n"]


@unittest.skipUnless(os.environ.get("LLAMAVISOR_TEST_ENGINES") == "1", "LLAMAVISOR_TEST_ENGINES is not 1")
class RealEngine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="llamavisor-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.pack = cls.folder / "cpu"
        subprocess.run([TOOLS / "get-engine", "cpu", "--into", cls.pack], check=True, stdout=subprocess.DEVNULL)
        for name in ["babble", "ascii"]:
            words = ["--ascii"] if name == "ascii" else []
            subprocess.run([TOOLS / "make-tiny-model", cls.folder / f"{name}.gguf", *words], check=True)

    def server(self, model, pack=None):
        return Server(self.folder, [(pack or self.pack) / "llama-server"], self.folder / f"{model}.gguf")

    def test_the_ascii_model_varies_and_stays_printable(self):
        with self.server("ascii") as server:
            for temperature in (0, 1):
                answers = [server.complete(prompt, temperature=temperature) for prompt in PROMPTS]
                for answer in answers:
                    self.assertRegex(answer["content"], r"\A[ -~]*\Z")
                    self.assertEqual(answer["stop_type"], "limit")
                    self.assertGreater(len(set(answer["tokens"])), 40)
                self.assertEqual(len({answer["content"] for answer in answers}), len(PROMPTS))

    def test_the_plain_model_babbles_invalid_utf8(self):
        with self.server("babble") as server:
            for prompt in PROMPTS:
                self.assertGreater(server.complete(prompt)["content"].count("\N{REPLACEMENT CHARACTER}"), 30)

    def test_an_end_can_be_forced(self):
        with self.server("ascii") as server:
            _, answer = server.call("POST", "/tokenize", {"content": "<|im_end|>", "parse_special": True})
            bias = [[answer["tokens"][-1], 200.0]]
            self.assertEqual(server.complete("Hello", logit_bias=bias)["stop_type"], "eos")

    def test_a_moved_pack_starts_by_its_loader_and_directly_once_mended(self):
        moved = self.folder / "moved here"
        shutil.copytree(self.pack, moved)
        by_loader = [moved / json.loads((moved / "engine.json").read_text())["loader"], moved / "llama-server"]
        with Server(self.folder, by_loader, self.folder / "ascii.gguf") as server:
            server.complete("Hello")
        subprocess.run([TOOLS / "get-engine", "cpu", "--into", moved], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([TOOLS / "get-engine", "--verify", moved], check=True)
        shutil.move(self.pack, self.folder / "away")  # so that nothing is found there
        self.addCleanup(shutil.move, self.folder / "away", self.pack)
        with self.server("ascii", moved) as server:
            server.complete("Hello")

    def test_a_packaged_pack_comes_back_over_the_web_and_serves(self):
        package = subprocess.run([TOOLS / "package-engine", "cpu", "--pack", self.pack, "--into", self.folder / "out"],
                                 check=True, stdout=subprocess.PIPE, text=True)
        (archive,) = (self.folder / "out").iterdir()
        self.assertEqual(package.stdout.strip(), hashlib.sha256(archive.read_bytes()).hexdigest())
        back = self.folder / "back"
        with Web({"/pack": ok(archive.read_bytes())}) as web:
            self.get(back, web.url("/pack"), package.stdout.strip())
        shutil.rmtree(self.folder / "out")
        subprocess.run([TOOLS / "get-engine", "--verify", back], check=True)
        with self.server("ascii", back) as server:
            server.complete("Hello")
        by_loader = [back / json.loads((back / "engine.json").read_text())["loader"], back / "llama-server"]
        with Server(self.folder, by_loader, self.folder / "ascii.gguf") as server:
            server.complete("Hello")

    def test_a_packaged_pack_that_was_unpacked_by_hand_starts_by_its_loader(self):
        subprocess.run([TOOLS / "package-engine", "cpu", "--pack", self.pack, "--into", self.folder / "tar"],
                       check=True, stdout=subprocess.DEVNULL)
        (archive,) = (self.folder / "tar").iterdir()
        subprocess.run(["tar", "-C", self.folder / "tar", "-xf", archive], check=True)
        home = self.folder / "tar" / archive.name.removesuffix(".tar.zst")
        description = json.loads((home / "engine.json").read_text())
        self.assertEqual(description["start"], "loader")
        by_loader = [home / description["loader"], home / "llama-server"]
        with Server(self.folder, by_loader, self.folder / "ascii.gguf") as server:
            server.complete("Hello")

    def test_a_release_with_the_real_server_becomes_a_pack_that_serves(self):
        release = self.folder / "release"
        shutil.copytree(self.pack, release)
        (release / "engine.json").unlink()
        for name in ["libllama.so", "libggml.so", "libggml-base.so"]:  # as a build has them, by links
            (release / f"{name}.0").rename(release / f"{name}.0.0.11669")
            (release / f"{name}.0").symlink_to(f"{name}.0.0.11669")
            (release / name).symlink_to(f"{name}.0")
        for number, archive in enumerate([builds.tar(release, "llama-b11669", self.folder / "r"),
                                          builds.tar(release, "llama-b11669", self.folder / "r", ".tar.zst"),
                                          builds.zipped(release, "build/bin", self.folder / "r")]):
            made = self.folder / f"from-release-{number}"
            self.get(made, archive, hashlib.sha256(archive.read_bytes()).hexdigest())
            with self.server("ascii", made) as server:
                server.complete("Hello")

    def get(self, into, archive, digest):
        environment = {key: text for key, text in os.environ.items() if not key.lower().endswith("_proxy")}
        environment["LLAMAVISOR_CACHE"] = str(self.folder / "cache")
        subprocess.run([TOOLS / "get-engine", "cpu", "--from", archive, "--sha256", digest, "--into", into],
                       check=True, stdout=subprocess.DEVNULL, env=environment)


if __name__ == "__main__":
    unittest.main()
