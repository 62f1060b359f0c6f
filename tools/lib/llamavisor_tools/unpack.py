"""Archives out of anybody's hands into an ArchiveTree: .tar.gz, .tar.zst, .zip, told apart by their first bytes.

Python's readers trust lengths that an archive states of itself, and end in silence where a header is garbled: here
every single read is bounded, and the end has to be the one that the format wants.
"""

import contextlib
import gzip
import os
import stat
import struct
import subprocess
import tarfile
import zipfile
import zlib

from . import commands
from .archive_tree import ArchiveTree, most_bytes
from .errors import BadArchive
from .progress import Progress

LARGEST_READ = 4 << 20  # bytes; the directory of a zip archive with some ten thousand members
TAR_BLOCK = 512
TAR_OVERHEAD = 256 << 20  # of headers and padding, beside the files
KNOWN_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpack(file, root):
    """Takes the open archive `file` apart below the empty folder `root`; an ArchiveTree."""
    head = file.read(4)
    file.seek(0)
    with Progress("unpacked", None) as progress:
        tree = ArchiveTree(root, most_bytes(os.fstat(file.fileno()).st_size), progress.add)
        try:
            if head.startswith(b"PK"):
                unpack_zip(file, tree)
            elif head.startswith(b"\x1f\x8b"):
                with gzip.GzipFile(fileobj=file) as stream:
                    unpack_tar(stream, tree)
            elif head == b"\x28\xb5\x2f\xfd":
                with zstd(file) as stream:
                    unpack_tar(stream, tree)
            else:
                raise BadArchive("bad archive: it is no .tar.gz, .tar.zst or .zip")
        except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile, RecursionError,
                NotImplementedError, ValueError, OverflowError, LookupError, struct.error) as error:
            raise BadArchive(f"bad archive: cut short or damaged ({error})") from None
        tree.close()
    return tree


class Bounded:
    """Bytes that can be read once, forwards, a bounded number at a time and in all."""

    def __init__(self, source, most):
        self.source, self.most, self.position, self.last = source, most, 0, b""

    def tell(self):
        return self.position

    def seekable(self):
        return False

    def read(self, count):
        if not 0 <= count <= LARGEST_READ:
            raise BadArchive("bad archive: a header of it has no sensible length")
        self.last = self.source.read(count)
        self.position += len(self.last)
        if self.position > self.most:
            raise BadArchive("bad archive: it would unpack to far more than its size allows")
        return self.last

    def seek(self, position, whence=os.SEEK_SET):
        if whence != os.SEEK_SET or position < self.position:
            raise BadArchive("bad archive: a member of it has no sensible place")
        while self.position < position and self.read(min(position - self.position, LARGEST_READ)):
            pass
        return self.position


def unpack_tar(stream, tree):
    source = Bounded(stream, tree.left + TAR_OVERHEAD)
    with tarfile.open(fileobj=source, mode="r:") as tar:
        while member := tar.next():
            tar.members.clear()  # nobody asks for them again
            if member.isdir():
                tree.add_folder(member.name)
            elif member.issym():
                tree.add_link(member.name, member.linkname)
            elif member.islnk():
                tree.add_hard_link(member.name, member.linkname)
            elif member.isreg() and not member.issparse():
                tree.add_file(member.name, member.size, source.read)  # which stands there
            else:
                raise BadArchive(f"bad archive: {member.name!r} is neither a file nor a folder nor a link")
    if source.last != bytes(TAR_BLOCK):
        raise BadArchive("bad archive: cut short or garbled")
    while source.read(1 << 16):  # to the end, where a compressed stream has its checksum
        pass


@contextlib.contextmanager
def zstd(file):
    """The decompressed bytes, by the zstd program, which has to end well."""
    commands.require("zstd")
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    child = subprocess.Popen(["zstd", "-q", "-d", "-c"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=dict(os.environ, LC_ALL="C"))
    try:
        yield child.stdout
        child.stdout.close()
        words = child.stderr.read().decode(errors="replace")
        if child.wait() != 0:
            raise BadArchive(f"bad archive: cut short or damaged ({commands.last_line(words)})")
    finally:
        child.stdout.close()
        commands.end(child)
        child.stderr.close()


def unpack_zip(file, tree):
    with zipfile.ZipFile(BoundedFile(file)) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.flag_bits & 1 or member.compress_type not in KNOWN_COMPRESSIONS:
                raise BadArchive(f"bad archive: {member.filename!r} is encrypted or packed in a rare way")
            if member.filename.endswith("/"):
                tree.add_folder(member.filename)
            elif kind == stat.S_IFLNK:
                with archive.open(member) as content:
                    tree.add_link(member.filename, content.read(4097).decode("utf-8"))
            elif kind in (0, stat.S_IFREG):
                with archive.open(member) as content:
                    tree.add_file(member.filename, member.file_size, content.read)
                    content.read(1)  # compares the checksum
            else:
                raise BadArchive(f"bad archive: {member.filename!r} is neither a file nor a folder nor a link")


class BoundedFile:
    """A file of which no more is read at a time than any directory needs: zipfile takes that whole."""

    def __init__(self, file):
        self.file = file

    def read(self, count=-1):
        content = self.file.read(min(count, LARGEST_READ + 1) if count >= 0 else LARGEST_READ + 1)
        if len(content) > LARGEST_READ:
            raise BadArchive("bad archive: its directory has no sensible length")
        return content

    def seek(self, place, whence=os.SEEK_SET):
        try:
            return self.file.seek(place, whence)
        except OSError:  # before the file's beginning
            raise BadArchive("bad archive: a member of it has no sensible place") from None

    def __getattr__(self, name):
        return getattr(self.file, name)
