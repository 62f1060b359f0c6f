"""Other people's programs: run to their end, in the C locale, never left behind."""

import os
import shutil
import subprocess

from .errors import EngineError, MissingTool, NoSpace, no_space_text

DEBIAN_PACKAGE_OF = {
    "apt-get": "apt",
    "apt-cache": "apt",
    "dpkg-deb": "dpkg",
    "patchelf": "patchelf",
    "ldd": "libc-bin",
    "zstd": "zstd",
}


def require(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        packages = sorted({DEBIAN_PACKAGE_OF[tool] for tool in missing})
        raise MissingTool(
            f"missing tool: {', '.join(missing)} (on Debian: apt-get install {' '.join(packages)})")


def start(command, environment=None, **options):
    """A child in the C locale, with nothing on its stdin."""
    environment = dict(os.environ if environment is None else environment, LC_ALL="C")
    return subprocess.Popen([os.fspath(word) for word in command], env=environment, text=True,
                            errors="replace", stdin=subprocess.DEVNULL, **options)


def end(child):
    """For the way out: whatever happened, the child is gone and reaped."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
    child.wait()


def capture(command, environment=None, timeout=None, **options):
    """(exit status, stdout, stderr). Raises subprocess.TimeoutExpired, the child being dead by then."""
    child = start(command, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        out, err = child.communicate(timeout=timeout)
    finally:
        end(child)
    return child.returncode, out, err


def output(command, **options):
    """stdout of a command that has to succeed."""
    status, out, err = capture(command, **options)
    if status != 0:
        if no_space_text(err):
            raise NoSpace(f"no space: {os.path.basename(command[0])} found no space left on the device")
        raise EngineError(f"{os.path.basename(command[0])} failed: {last_line(err) or f'status {status}'}")
    return out


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
