#!/usr/bin/env python3
"""What the public headers cost a host: the CPU time to compile a file that includes all of them, less
that of an empty one.

usage: header_cost.py [--compiler CXX] [--rounds N]
"""

import argparse
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
AIM = 1.0  # seconds

FILES = {
    "empty": "int main() {}\n",
    "<string>, <vector>, <functional>":
        "#include <functional>\n#include <string>\n#include <vector>\nint main() {}\n",
    "<llamavisor/llamavisor.hpp>":
        "#include <llamavisor/llamavisor.hpp>\nint main() {}\n",
    "a host that generates":
        "#include <llamavisor/llamavisor.hpp>\n"
        "int main(int, char** argv) {\n"
        "  const auto model = llamavisor::load_model(argv[1]);\n"
        "  for (const auto& token : model.generate(argv[2])) if (token.text.empty()) return 1;\n"
        "}\n",
}


def seconds_to_compile(compiler, source):
    """CPU seconds: what others do on the machine does not count."""
    command = [compiler, "-std=c++20", "-O0", "-I", ROOT / "include", "-c", source, "-o",
               source.with_suffix(".o")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    times = {what: [] for what in FILES}
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for index, (what, text) in enumerate(FILES.items()):
            sources[what] = pathlib.Path(folder) / f"file{index}.cpp"
            sources[what].write_text(text)
        for _ in range(arguments.rounds):  # turn by turn: a machine that slows down slows all
            for what, source in sources.items():
                times[what].append(seconds_to_compile(arguments.compiler, source))
    medians = {what: statistics.median(taken) for what, taken in times.items()}
    print(f"{arguments.compiler} -std=c++20 -O0, medians of {arguments.rounds}")
    print("| file | CPU seconds | more than the empty one |\n|---|---|---|")
    for what, taken in medians.items():
        print(f"| {what} | {taken:.2f} | {taken - medians['empty']:.2f} |")
    cost = medians["<llamavisor/llamavisor.hpp>"] - medians["empty"]
    return 0 if cost <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
