"""What has been taken out of an archive: files below a folder, links kept in mind alone.

No link is ever made on the disk, so nothing can be written through one. Names are texts with "/", from the archive's
top.
"""

import os
import posixpath

from .errors import BadArchive
from .files import check_space

MOST_MEMBERS = 50_000
MOST_BYTES = 16 << 30  # the largest pack known, Debian's for HIP, has five
LINKS_ON_A_WAY = 40
BLOCK = 1 << 20


def most_bytes(archive_size):
    """What may come out of an archive: Debian's HIP packages, the densest known, grow eleven times."""
    return min(MOST_BYTES, (64 << 20) + 40 * archive_size)


class ArchiveTree:
    def __init__(self, root, most, count=lambda size: None):
        self.root, self.left, self.count = root, most, count
        self.members = 0
        self.files, self.folders, self.links = set(), set(), {}

    # ---- filling it

    def take(self, name, size):
        """The name of a new member, clean; BadArchive where it must not be."""
        self.members += 1
        if self.members > MOST_MEMBERS:
            raise BadArchive(f"bad archive: more than {MOST_MEMBERS} members")
        if size < 0 or size > self.left:
            raise BadArchive(f"bad archive: it would unpack to far more than its size allows ({name!r})")
        self.left -= size
        parts = [part for part in name.split("/") if part not in ("", ".")]
        odd = any(ord(letter) < 32 or letter == "\\" for letter in name)
        if name.startswith("/") or ".." in parts or odd or any(len(os.fsencode(part)) > 255 for part in parts):
            raise BadArchive(f"bad archive: {name[:300]!r} would be written elsewhere")
        return "/".join(parts)

    def place(self, name):
        """`name` is to be a file or a link: nothing else has it, and all above it are folders."""
        parts = name.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        taken = any(place in self.files or place in self.links for place in [name, *above])
        if taken or not name or name in self.folders:
            raise BadArchive(f"bad archive: {name!r} is there twice")
        self.folders.update(above)

    def add_folder(self, name):
        self.take(name, 0)  # those with nothing in them are not needed

    def add_file(self, name, size, read):
        """`read(count)` gives the file's bytes; there must be `size` of them."""
        name = self.take(name, size)
        self.place(name)
        check_space([(self.root, size)])
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        left = size
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as file:
            while left:
                block = read(min(left, BLOCK))
                if not block:
                    raise BadArchive(f"bad archive: cut short in {name!r}")
                left -= len(block)
                file.write(block)
                self.count(len(block))
        self.files.add(name)

    def add_link(self, name, target):
        """A symbolic link; it leads where it leads only once all is there."""
        name = self.take(name, 0)
        self.place(name)
        if target.startswith("/") or not target or len(target) > 4096:
            raise BadArchive(f"bad archive: the link {name!r} leads out of it")
        self.links[name] = posixpath.join(posixpath.dirname(name), target)

    def add_hard_link(self, name, target):
        """Another name of an earlier file."""
        name = self.take(name, 0)
        self.place(name)
        if target.startswith("/"):
            raise BadArchive(f"bad archive: the link {name!r} leads out of it")
        self.links[name] = target

    def close(self):
        """Nothing more will come: all links are walked once."""
        for name in self.links:
            self.resolve(name)

    # ---- looking into it

    def resolve(self, name):
        """The name of what is behind all links, there or not; BadArchive where the way leaves the archive."""
        coming, done, links = name.split("/"), [], 0
        while coming:
            part = coming.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                if not done:
                    raise BadArchive(f"bad archive: the link {name!r} leads out of it")
                done.pop()
                continue
            done.append(part)
            target = self.links.get("/".join(done))
            if target is not None:
                links += 1
                if links > LINKS_ON_A_WAY:
                    raise BadArchive(f"bad archive: the link {name!r} leads in circles")
                coming, done = target.split("/") + coming, []
        return "/".join(done)

    def file(self, name):
        """The path of a file, also by its other names; None where there is none."""
        real = self.resolve(name)
        return self.root / real if real in self.files else None

    def names(self):
        """Of files, and of links that lead to one."""
        return sorted(self.files | {name for name in self.links if self.file(name)})

    def below(self, folder):
        """{name from there: path} of the files in a folder and its folders."""
        head = f"{folder}/" if folder else ""
        return {name[len(head):]: self.file(name) for name in self.names() if name.startswith(head)}

    def folder_links_below(self, folder):
        """{name from there: target from the link's own folder}, of links to folders; none may leave the folder."""
        head, found = f"{folder}/" if folder else "", {}
        for name in sorted(self.links):
            real = self.resolve(name)
            if name.startswith(head) and real in self.folders:
                if not real.startswith(head):
                    raise BadArchive(f"bad archive: the link {name!r} leads out of its folder")
                found[name[len(head):]] = posixpath.relpath(real, posixpath.dirname(name))
        return found


