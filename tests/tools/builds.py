"""Builds of a llama-server that is none, small and real: ELF files that patchelf and the loader take seriously."""

import os
import subprocess
import tarfile
import zipfile

SERVER = r"""
#include <stdio.h>
#include <string.h>
int llama_build(void);
int main(int count, char** words) {
  if (count < 2) return 1;
  if (!strcmp(words[1], "--version")) printf("version: 0.7.0 (build %d, commit abc)\n", llama_build());
  if (!strcmp(words[1], "--help")) printf("-m,    --model FNAME\n--host HOST\n--port PORT\n");
  if (!strcmp(words[1], "--list-devices")) printf("Available devices:\n  (none)\n");
  return 0;
}
"""
# As a HIP compiler leaves it in a plug-in: the list of the targets that code is there for.
HIP = r"""
__attribute__((used)) static const char bundle[] = "hipv4-amdgcn-amd-amdhsa--gfx1100\0hipv4-amdgcn-amd-amdhsa--gfx1201";
int hip_runtime(void);
int hip(void) { return hip_runtime(); }
"""


def compile_c(text, path, *options):
    subprocess.run(["gcc", "-x", "c", "-", "-o", path, *options], input=text, text=True, check=True)


def compile_library(text, folder, name, *options):
    """lib.so.1.2 by its full name, the links lib.so.1 and lib.so beside it, as llama.cpp's build does it."""
    plain = name[:name.index(".so") + 3]
    compile_c(text, folder / name, "-shared", "-fPIC", f"-Wl,-soname,{'.'.join(name.split('.')[:3])}", *options)
    if name != plain:
        os.symlink(name, folder / ".".join(name.split(".")[:3]))
        os.symlink(".".join(name.split(".")[:3]), folder / plain)


def build(folder, rocm=True):
    """A release's folder: server, libraries, plug-ins for the CPU, RPC and HIP, other programs, a licence."""
    folder.mkdir(parents=True)
    here = ["-L", folder, "-Wl,-rpath,$ORIGIN"]
    compile_library("int llama_build(void) { return 11669; }", folder, "libllama.so.0.0.11669")
    compile_c(SERVER, folder / "llama-server", *here, "-lllama")
    compile_library("int cpu;", folder, "libggml-cpu-x64.so")
    compile_library("int rpc;", folder, "libggml-rpc.so")
    compile_library("int hip_runtime(void) { return 7; }", folder, "libamdhip64.so.7.2")
    compile_library(HIP, folder, "libggml-hip.so", *here, "-lamdhip64")
    for name in ["llama-cli", "llama-bench", "llama-quantize"]:
        compile_c("int main(void) { return 0; }", folder / name)
    (folder / "LICENSE").write_text("MIT\n")
    if not rocm:
        for path in folder.glob("libamdhip64*"):
            path.unlink()
    return folder


def tar(folder, top, archive, suffix=".tar.gz"):
    path = archive.with_name(archive.name + suffix)
    if suffix == ".tar.zst":
        tar(folder, top, archive, ".tar")
        plain = archive.with_name(archive.name + ".tar")
        subprocess.run(["zstd", "-q", "--rm", plain, "-o", path], check=True)
    else:
        with tarfile.open(path, "w:gz" if suffix == ".tar.gz" else "w") as file:
            file.add(folder, top)
    return path


def zipped(folder, top, archive):
    """With links kept as such, which Python's own writer does not do."""
    path = archive.with_name(archive.name + ".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for entry in sorted(folder.rglob("*")):
            name = f"{top}/{entry.relative_to(folder)}"
            if entry.is_symlink():
                info = zipfile.ZipInfo(name)
                info.create_system, info.external_attr = 3, 0o120777 << 16
                file.writestr(info, os.readlink(entry))
            elif entry.is_file():
                file.write(entry, name)
    return path
