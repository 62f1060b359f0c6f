"""A pack out of Debian's packages: unpacked aside, flattened into one folder, nothing installed."""

import json
import os
import platform
import shutil
from pathlib import Path

from . import commands, elf
from .apt import PrivateApt
from .errors import Damaged, WrongMachine
from .files import check_space
from .pack import SERVER, TOOLS, make_independent
from .progress import Progress, say
from .sources import debian_mirror

ARCHITECTURES = {  # machine: (Debian's name, its library folder)
    "x86_64": ("amd64", "x86_64-linux-gnu"),
    "aarch64": ("arm64", "aarch64-linux-gnu"),
}

PACKAGES = {
    "cpu": ["llama.cpp-tools"],
    "vulkan": ["llama.cpp-tools", "libggml0-backend-vulkan", "mesa-vulkan-drivers"],
    "hip": ["llama.cpp-tools", "libggml0-backend-hip"],
}

# Mesa's drivers for hardware that such a machine does not have.
FOREIGN_DRIVERS = {
    "amd64": ["asahi", "freedreno", "gfxstream", "broadcom", "panfrost", "powervr"],
    "arm64": ["gfxstream", "intel", "intel_hasvk"],
}

# HIP opens these by name at run time, so no list of needed libraries shows them.
HIP_LIBRARIES = ["libamd_comgr.so.*", "libhsa-runtime64.so.*", "libroctx64.so.*", "librocprofiler-register.so.*"]

FILE_SYSTEM_SLACK = 32 << 20


def architecture():
    if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
        raise WrongMachine(f"wrong machine: {platform.system()} on {platform.machine()}; Debian's packages are for "
                           "Linux on x86_64 (amd64) or aarch64 (arm64)")
    return ARCHITECTURES[platform.machine()]


def fill(folder, target, flavour, suite, with_tools, cache):
    """Fills the empty `folder`; (loader, source) for engine.json."""
    debian_name, triplet = architecture()
    commands.require("apt-get", "dpkg-deb", "patchelf")
    apt = PrivateApt(cache, debian_mirror(), suite, debian_name)
    with apt.locked():
        apt.update()
        packages = apt.resolve(PACKAGES[flavour])
        missing = apt.missing(packages)
        check_space([(folder.parent, sum(package.installed for package in packages) + FILE_SYSTEM_SLACK),
                     (apt.folder, sum(package.size for package in missing))])
        if missing:
            apt.fetch(missing)
        else:
            say(f"all {len(packages)} packages are in the cache")
        root = folder / ".root"
        unpack([apt.archive(package) for package in packages], root)
    tree = Tree(root, triplet)
    loader = tree.gather(folder, flavour, FOREIGN_DRIVERS[debian_name], [SERVER, *(TOOLS if with_tools else [])])
    shutil.rmtree(root)
    make_independent(folder, target, loader)
    listing = [{"name": p.name, "version": p.version, "sha256": p.sha256} for p in packages]
    return loader, {"kind": "debian", "suite": suite, "packages": listing}


def unpack(archives, root):
    root.mkdir()
    say(f"unpacking {len(archives)} packages")
    with Progress("unpacked", len(archives), show=str) as progress:
        for archive in archives:
            commands.output(["dpkg-deb", "-x", archive, root])
            progress.add(1)


class Tree:
    """Debian's folders below `root`, from which a pack picks what llama-server needs."""

    def __init__(self, root, triplet):
        self.root, self.libraries = root, root / "usr/lib" / triplet
        self.places = [self.libraries, self.libraries / "llama", self.libraries / "ggml", root / "usr/lib64"]

    def find(self, name):
        for place in self.places:
            if (path := place / name).exists():
                return path
        return None

    def gather(self, folder, flavour, foreign_drivers, programs):
        """Links the needed files into `folder`, flat; the name of the loader."""
        roots = [self.root / "usr/bin" / program for program in programs]
        for root in roots:
            if not root.exists():
                raise Damaged(f"the packages hold no {root.name}")
        loader = os.path.basename(elf.interpreter(roots[0]))
        roots += self.plugins(flavour)
        if flavour == "vulkan":
            roots += self.vulkan_drivers(folder, foreign_drivers)
        if flavour == "hip":
            roots += [path for pattern in HIP_LIBRARIES for path in self.libraries.glob(pattern)]
            self.move_rocblas_data(folder)
        files, missing = elf.closure([*roots, self.required(loader)], self.find)
        if missing:
            raise Damaged(f"the packages lack a library: {sorted(missing)[0]}")
        for name, path in files.items():
            os.link(inside(path, self.root), folder / name)
        return loader

    def required(self, name):
        path = self.find(name)
        if not path:
            raise Damaged(f"the packages lack a file: {name}")
        return path

    def plugins(self, flavour):
        wanted = ["cpu"] if flavour == "cpu" else ["cpu", flavour]
        found = []
        for kind in wanted:
            some = sorted(self.libraries.glob(f"ggml/backends*/libggml-{kind}*.so"))
            if not some:
                raise Damaged(f"the packages hold no ggml plug-in for {kind}")
            found += some
        return found

    def vulkan_drivers(self, folder, foreign):
        """Mesa's drivers; each gets an ICD file that names it by a path relative to that file."""
        drivers = []
        for description in sorted(self.root.glob("usr/share/vulkan/icd.d/*_icd.json")):
            icd = json.loads(description.read_text())
            driver = self.find(os.path.basename(icd["ICD"]["library_path"]))
            if not driver or driver.name.removeprefix("libvulkan_").removesuffix(".so") in foreign:
                continue
            icd["ICD"]["library_path"] = f"./{driver.name}"
            (folder / description.name).write_text(json.dumps(icd, indent=1) + "\n")
            drivers.append(driver)
        return drivers

    def move_rocblas_data(self, folder):
        """rocBLAS looks for its kernels in a folder beside itself, with or without its version."""
        for place in self.libraries.glob("rocblas/**/library"):
            home = folder / place.relative_to(self.libraries)
            home.parent.mkdir(parents=True, exist_ok=True)
            place.rename(home)
            plain = folder / "rocblas/library"
            if not plain.exists():
                plain.symlink_to(os.path.relpath(home, plain.parent))


def inside(path, root):
    """The file behind a link, which must not lead out of the unpacked tree."""
    real = Path(os.path.realpath(path))
    if root.resolve() not in real.parents:
        raise Damaged(f"{path.name} leads out of its package")
    return real
