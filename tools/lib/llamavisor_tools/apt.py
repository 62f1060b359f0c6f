"""apt in folders of its own: another suite's packages, fetched and verified, nothing installed.

The machine's apt configuration stays in force (proxies, credentials, time limits), except for what
would touch the system or bend the choice of packages: hooks, pins, its sources, its dpkg status.
"""

import fcntl
import hashlib
import os
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from . import commands
from .errors import EngineError, MissingTool, NoNetwork, NoSpace, NotAvailable, Untrusted, no_space_text
from .files import sha256
from .progress import Progress, mib, say

KEYRINGS = ["/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"]

CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
#clear APT::Default-Release;
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Get::AllowUnauthenticated "false";
APT::Get::Download-Only "true";
APT::Get::Assume-Yes "true";
APT::Update::Error-Mode "any";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
Dir::State "{folder}/state";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::State::extended_states "{folder}/extended_states";
Dir::Cache "{folder}";
Dir::Cache::archives "{folder}/archives";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "{folder}/log";
"""


class Package(NamedTuple):
    name: str
    version: str
    architecture: str
    size: int  # of the archive, in bytes
    installed: int  # unpacked, in bytes
    sha256: str  # from the signed index

    @property
    def file_name(self):
        version = self.version.replace("_", "%5f").replace(":", "%3a")
        return f"{self.name}_{version}_{self.architecture}.deb"


def keyring():
    for path in KEYRINGS:
        if os.path.exists(path):
            return path
    raise MissingTool("missing: Debian's archive keys (apt-get install debian-archive-keyring)")


def failure(text, doing):
    """Apt's own words turned into a typed error."""
    line = telling_line(text)
    if no_space_text(text):
        return NoSpace(f"no space: {line}")
    if re.search(r"NO_PUBKEY|BADSIG|EXPKEYSIG|is not signed|signature|Hash Sum mismatch|not valid yet|"
                 r"is expired|be authenticated|weak security|changed its", text):
        return Untrusted(f"bad signature or hash while {doing}: {line}")
    if re.search(r"Unable to locate package|has no installation candidate|not have a Release file|"
                 r"unmet dependencies|no longer has a Release", text):
        return NotAvailable(f"not available: {line}")
    if re.search(r"resolv|connect|unreachable|timed out|Connection|Could not|Failed to fetch|proxy", text):
        return NoNetwork(f"no network while {doing}: {line}")
    return EngineError(f"apt failed while {doing}: {line}")


def telling_line(text):
    """The line that says most: an error in full, else a warning, else the last line."""
    for sign in ("E: ", "W: ", "Err"):
        for line in text.splitlines():
            if line.startswith(sign):
                return " ".join(line.removeprefix(sign).split())
    return commands.last_line(text) or "no message"


class PrivateApt:
    """One suite of one mirror. Used under `locked()`: two runs must not share the folders."""

    def __init__(self, cache, mirror, suite, architecture):
        commands.require("apt-get", "apt-cache", "dpkg-deb")
        key = hashlib.sha256(f"{mirror} {suite}".encode()).hexdigest()[:8]
        self.folder = Path(cache) / "debian" / f"{suite}-{architecture}-{key}"
        if re.search(r'["\\;{}]', str(self.folder)):
            raise EngineError(f"apt cannot use the folder {self.folder}: set LLAMAVISOR_CACHE to another one")
        self.suite = suite
        for part in ["state", "lists/partial", "archives/partial", "log"]:
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        options = f"arch={architecture} signed-by={keyring()} target=Packages"
        (self.folder / "sources.list").write_text(f"deb [{options}] {mirror} {suite} main\n")
        self.configuration = self.folder / "apt.conf"
        self.configuration.write_text(
            CONFIGURATION.format(folder=self.folder, architecture=architecture))

    def locked(self):
        """A context manager; waits for another run, saying so once."""
        handle = open(self.folder / "in-use", "w")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another get-engine to end its download")
            fcntl.flock(handle, fcntl.LOCK_EX)
        return handle

    def run(self, tool, *words):
        return commands.capture([tool, "-c", self.configuration, *words])

    def update(self):
        """The package lists as of now; older ones will do where there is no network."""
        doing = f"reading the package lists of {self.suite}"
        say(doing)
        status, out, err = self.run("apt-get", "update", "-q")
        if status == 0:
            self.run("apt-get", "autoclean", "-q")
            return
        error = failure(out + err, doing)
        lists = list((self.folder / "lists").glob("*_Packages*"))
        if isinstance(error, NoNetwork) and lists:
            day = time.strftime("%Y-%m-%d", time.localtime(lists[0].stat().st_mtime))
            say(f"warning: {error}; going on with the lists of {day}")
            return
        raise error

    def resolve(self, names):
        """The packages and all that they depend on, down to libc."""
        status, out, err = self.run("apt-get", "install", "--simulate", "-q", *names)
        if status != 0:
            raise failure(out + err, "choosing packages")
        chosen = re.findall(r"^Inst (\S+) \((\S+) ", out, re.MULTILINE)
        status, out, err = self.run("apt-cache", "show", *(f"{name}={version}" for name, version in chosen))
        if status != 0:
            raise failure(err, "reading about packages")
        return sorted(package_records(out))

    def missing(self, packages):
        """Those that the cache does not hold as the signed index wants them."""
        return [package for package in packages if not self.verified(package)]

    def fetch(self, packages):
        """Downloads into the cache and verifies against the signed index."""
        self.download(packages)
        if bad := self.missing(packages):
            raise Untrusted(f"bad hash: {bad[0].name} is not what the signed index says")

    def download(self, packages):
        total = sum(package.size for package in packages)
        say(f"fetching {len(packages)} packages, {mib(total)}")
        archives = self.folder / "archives"
        before = folder_bytes(archives)
        wanted = [f"{package.name}={package.version}" for package in packages]
        with open(self.folder / "log" / "download", "w+") as log, Progress("fetched", total) as progress:
            child = commands.start(["apt-get", "-c", self.configuration, "install", "-q", *wanted],
                                   stdout=log, stderr=log)
            try:
                while True:
                    try:
                        child.wait(0.2)
                        break
                    except subprocess.TimeoutExpired:
                        progress.at(folder_bytes(archives) - before)
            finally:
                commands.end(child)
            log.seek(0)
            if child.returncode != 0:
                raise failure(log.read(), "fetching packages")

    def archive(self, package):
        return self.folder / "archives" / package.file_name

    def verified(self, package):
        """Apt trusts an archive in its cache by size alone; a wrong one is removed here."""
        path = self.archive(package)
        if not path.exists():
            return False
        if sha256(path) == package.sha256:
            return True
        path.unlink()
        return False


def package_records(text):
    for record in text.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", record, re.MULTILINE))
        if fields:
            yield Package(fields["Package"], fields["Version"], fields["Architecture"], int(fields["Size"]),
                          int(fields.get("Installed-Size", 0)) * 1024, fields["SHA256"])


def folder_bytes(folder):
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # apt moves a file when it is complete
            pass
    return total
