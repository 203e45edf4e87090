# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice small changes of the source? Makes one at a time, builds the program with it and runs the fast part of
the tests: unit tests by file and the recorded runs of tests/digests, of each those that reach the changed line, the quickest
first, until one notices; where none does, the same once more with the changed file compiled for the address sanitizer, as the
suite runs them, which also finds what is not given back. A change that does not compile, or compiles to the same code, is not counted, nor is one that
harmless.txt shows to change nothing.

    ./dev mutate [FILE|FOLDER ...] [--count N] [--seed N] [--jobs N] [--list] [--survivors FILE]

Works in a temporary folder, from a build folder at -O1 that holds compile_commands.json, build.ninja and the objects; it calls
the compiler, its tools and Python, no build tool, so that the folder can be carried to a machine with more cores.
"""
import argparse
import bisect
import json
import math
import multiprocessing
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "digests")]
import digests  # noqa: E402
from cases import SCHEMA, all_cases  # noqa: E402
from mutants import mutants_of  # noqa: E402

USUAL = ["src/network/router", "src/network/routing", "src/network/allocator", "src/engine", "src/metrics", "src/workload/part.c"]
CPU_A_MUTANT = 6  # seconds of the cases of one, by what they take unchanged
CPU_A_CASE = 1.5  # seconds: what takes longer is no quick test, and left out
MEMORY = 4 << 30
CHECKED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
CHECKED_SETTINGS = "exitcode=86:hard_rss_limit_mb=4000:detect_leaks="


def run(words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False, **more)


class Build:
    """The commands of a build folder, wherever the tree and the folder lie now."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        cache = (self.folder / "CMakeCache.txt").read_text()
        self.old_root = re.search(r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", cache).group(1)
        self.old_folder = entries[0]["directory"]
        self.carried = self.folder / "carried"
        self.carry_zstd()
        self.compiles = {}  # path in the tree: (words without -o and -c, object)
        self.objects = {"flitwarp": [], "unit_tests": []}
        for entry in entries:
            self.add_compile(entry)
        ninja = (self.folder / "build.ninja").read_text()
        self.links = {name: self.link_words(ninja, name) for name in self.objects}

    def here(self, text):
        return text.replace(self.old_folder, str(self.folder)).replace(self.old_root, str(ROOT))

    def carry_zstd(self):
        """The one library that the program cannot do without goes along."""
        if self.carried.exists():
            return
        self.carried.mkdir()
        library = run(["gcc", "-print-file-name=libzstd.a"]).stdout.strip()
        for path in [*Path("/usr/include").glob("z*std*.h"), Path("/usr/include/zdict.h"), Path(library)]:
            if path.is_file():
                shutil.copy(path, self.carried)

    def add_compile(self, entry):
        words = shlex.split(self.here(entry["command"]))
        made = self.folder / words[words.index("-o") + 1]
        target = re.search(r"CMakeFiles/(\w+)\.dir/", str(made)).group(1)
        for name in ("flitwarp", "unit_tests"):
            if target in (name, "flitwarp_objects"):
                self.objects[name].append(made)
        if target == "flitwarp_objects":
            kept = [word for word in words[:words.index("-o")] if word not in ("-Werror", "-g") and not word.startswith("-W")]
            self.compiles[os.path.relpath(self.here(entry["file"]), ROOT)] = ([*kept, "-w", "-isystem", str(self.carried)], made)

    def link_words(self, ninja, name):
        block = re.search(rf"^build {name}: .*?(?=^build )", ninja, re.MULTILINE | re.DOTALL).group()
        value = lambda key: shlex.split(self.here(found.group(1))) if (found := re.search(rf"^  {key} = (.*)", block, re.MULTILINE)) else []
        archive = self.carried / "libzstd.a"
        libraries = [str(archive) if archive.exists() and re.search(r"zstd(\.so)?$", word) else word for word in value("LINK_LIBRARIES")]
        return value("LINK_FLAGS"), libraries

    def compile(self, path, source, made, *flags):
        """The file of the tree as `source` has it; its name and line numbers stay those of the tree."""
        words, _ = self.compiles[path]
        kept = [word for word in words if not re.match(r"-O\d", word)]
        level = [] if any(re.match(r"-O\d", flag) for flag in flags) else ["-O1"]
        return run([*kept, *level, *flags, "-o", made, "-c", source], cwd=self.folder).returncode == 0

    def link(self, name, made, replaced, *flags):
        """The program with some objects replaced: {object: object}."""
        before, libraries = self.links[name]
        objects = [replaced.get(one, one) for one in self.objects[name]]
        listed = Path(str(made) + ".rsp")
        listed.write_text("\n".join(map(str, objects)))
        ended = run(["gcc", *before, *flags, f"@{listed}", *libraries, "-o", made], cwd=self.folder)
        if ended.returncode:
            raise RuntimeError(f"{name} does not link: {ended.stderr[-2000:]}")


class UnitTests:
    """Those of one file, as a case."""

    def __init__(self, path):
        self.name, self.path = f"unit {path}", path

    def outcome(self, programs, limits, environment=None):
        try:
            ended = run([programs("unit_tests"), self.path], cwd=ROOT, timeout=limits.wall, preexec_fn=limits.set, env=environment)
        except subprocess.TimeoutExpired:
            return ["-99"]
        return [str(ended.returncode)]

    def expected(self, _):
        return ["0"]


class Recorded:
    """A case of the recorded runs."""

    def __init__(self, case):
        self.name, self.case = case.name, case

    def outcome(self, programs, limits, environment=None):
        return digests.outcome(programs("flitwarp"), self.case, limits, environment)

    def expected(self, known):
        return known.get(self.case.row)


class Bench:
    """What all mutants share: build, cases, what they take, and which lines each reaches."""

    def __init__(self, build, work, targets, jobs, words):
        self.build, self.work, self.jobs, self.targets = build, Path(work), jobs, targets
        program = build.folder / "flitwarp"
        paths = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/unit").rglob("test_*.c"))
        self.cases = [*map(UnitTests, paths), *map(Recorded, [SCHEMA, *all_cases(program)])]
        if words:
            self.cases = [case for case in self.cases if any(word in case.name for word in words)]
        self.known = {**digests.recorded(), SCHEMA.row: digests.outcome(program, SCHEMA)}
        self.sources = sorted(path for path in build.compiles if any(path == one or path.startswith(one.rstrip("/") + "/") for one in targets)
                              or self.includes(path))
        self.reached, self.seconds = {}, {}
        self.unfit = set()  # names of cases that tell nothing under the sanitizer

    def includes(self, path):
        return False

    def measure(self):
        """Runs all cases, also with a program that tells which lines of the targets it reaches; all must give what is recorded."""
        folder = self.work / "traced"
        folder.mkdir()
        replaced = {}
        for path in self.sources:
            source, made = folder / path.replace("/", "#"), folder / (path.replace("/", "#") + ".o")
            source.write_text((ROOT / path).read_text())  # under a name that tells its folder: lines know the last part alone
            if not self.build.compile(path, source, made, "-O0", "-g1", "-fsanitize-coverage=trace-pc"):
                raise RuntimeError(f"{path} does not compile")
            replaced[self.build.compiles[path][1]] = made
        teller = folder / "reached.o"
        run(["gcc", "-O1", "-c", HERE / "reached.c", "-o", teller])
        for name in self.build.objects:
            self.build.link(name, folder / name, replaced, "-Wl,--wrap=_exit", str(teller))
        self.blocks = {name: blocks_of(folder / name, self.targets) for name in self.build.objects}
        for name in self.build.objects:
            self.build.link(name, folder / f"checked {name}", {}, *CHECKED)
        self.checked = {**os.environ, "ASAN_OPTIONS": CHECKED_SETTINGS + "1"}
        if run([folder / "checked flitwarp", "list"], env=self.checked).returncode:
            print("what is not given back is not looked for: the leak sanitizer does not run here", flush=True)
            self.checked["ASAN_OPTIONS"] = CHECKED_SETTINGS + "0"
        self.code = {line for blocks in self.blocks.values() for lines in blocks.values() for line in lines}
        with multiprocessing.get_context("fork").Pool(self.jobs) as pool:
            for name, seconds, lines, is_fit, said in pool.imap_unordered(self.measure_one, range(len(self.cases))):
                if said:
                    raise SystemExit(f"{name}: unchanged, it gives {said}")
                self.seconds[name], self.reached[name] = seconds, lines
                self.unfit |= set() if is_fit else {name}
        self.cases = [case for case in self.cases if self.seconds[case.name] <= CPU_A_CASE]

    def measure_one(self, number):
        case = self.cases[number]
        limits = digests.Limits(120, 600, MEMORY)  # as mutants have it
        begin = cpu_of_children()
        plain = case.outcome(lambda name: self.build.folder / name, limits)
        seconds = cpu_of_children() - begin
        expected = case.expected(self.known)
        if plain != expected:
            return case.name, seconds, set(), False, f"{plain}, not {expected}"
        if seconds > CPU_A_CASE:
            return case.name, seconds, set(), False, ""
        told = self.work / f"reached.{number}"
        case.outcome(lambda name: self.work / "traced" / name, limits, {**os.environ, "REACHED": str(told)})
        blocks = self.blocks["unit_tests" if isinstance(case, UnitTests) else "flitwarp"]
        offsets = set(map(int, told.read_text().split())) if told.exists() else set()
        told.unlink(missing_ok=True)
        checked = case.outcome(lambda name: self.work / "traced" / f"checked {name}", digests.Limits(120, 600), self.checked)
        return case.name, seconds, {line for offset in offsets for line in blocks.get(offset, ())}, checked == expected, ""

    def cases_at(self, path, line):
        """Those that reach the line, or for a line without code the file, quickest first."""
        if (path, line) in self.code:
            found = [case for case in self.cases if case.name == SCHEMA.name or (path, line) in self.reached[case.name]]
        else:
            found = [case for case in self.cases if case.name == SCHEMA.name or any(one == path for one, _ in self.reached[case.name])]
        found.sort(key=lambda case: self.seconds[case.name])
        spent, kept = 0.0, []
        for case in found:
            spent += self.seconds[case.name]
            if kept and spent > CPU_A_MUTANT:
                break
            kept.append(case)
        return kept


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def blocks_of(program, targets):
    """{offset of a traced block: {(file, line)}} of a program; the code between one block's mark and the next belongs to it."""
    start = int(next(line for line in run(["nm", program]).stdout.splitlines() if line.endswith(" __executable_start")).split()[0], 16)
    marks, is_mark = [], False
    for line in run(["objdump", "-d", "--no-show-raw-insn", program]).stdout.splitlines():
        found = re.match(r"\s*([0-9a-f]+):\t(.*)", line)
        if found and is_mark:
            marks.append(int(found.group(1), 16))
        is_mark = bool(found) and "__sanitizer_cov_trace_pc>" in found.group(2) and found.group(2).startswith("call")
    wanted, rows, file = set(targets), [], ""
    for line in run(["objdump", "--dwarf=decodedline", "-WL", program]).stdout.splitlines():
        if line.endswith(":") and ("/" in line or "#" in line):
            file = tree_path(line.rstrip(":").replace("[++]", "").removeprefix("CU: "))
        elif (words := line.split()) and len(words) >= 3 and words[1].isdigit() and words[2].startswith("0x"):
            rows.append((int(words[2], 16), file, int(words[1])))
    rows.sort()
    blocks = defaultdict(set)
    for place, (address, file, number) in enumerate(rows):
        if file not in wanted:
            continue
        end = next((one for one, _, _ in rows[place + 1:place + 9] if one > address), address + 1)
        within = marks[bisect.bisect_right(marks, address):bisect.bisect_right(marks, end)]
        before = bisect.bisect_right(marks, address) - 1
        for mark in within or marks[max(before, 0):before + 1]:
            blocks[mark - start].add((file, number))
    return dict(blocks)


def tree_path(path):
    """As the tree names it: headers are absolute, or as the compiler was given them; of a source the folders are in its name."""
    path = path.strip()
    if "#" in path:
        return path.rpartition("/")[2].replace("#", "/")
    return os.path.relpath(path, ROOT) if os.path.isabs(path) else path.removeprefix("./")


# ---- one mutant ------------------------------------------------------------------------------------------------------------------

class Trial:
    """Builds a mutant in a folder of its own, and asks the cases."""

    def __init__(self, bench, mutant, folder):
        self.bench, self.mutant, self.folder = bench, mutant, Path(folder)
        source = (ROOT / mutant.path).read_text()
        changed = mutant.apply(source)
        lost = source.count("\n") - changed.count("\n")
        changed = changed[:mutant.start + len(mutant.text)] + "\n" * lost + changed[mutant.start + len(mutant.text):]
        self.source = self.folder / "tree" / mutant.path
        self.source.parent.mkdir(parents=True)
        self.source.write_text(changed)

    def users(self):
        """Files to compile again: the file itself, or those that include the header."""
        path = self.mutant.path
        return [path] if path.endswith(".c") else self.bench.users[path]

    def compile(self, level, *flags):
        """{path: object}; None where it does not compile. `same` where all objects are as they were."""
        objects, same = {}, True
        tree = self.folder / "tree"
        for path in self.users():
            made = self.folder / (path.replace("/", "#") + level + ("checked.o" if flags else ".o"))
            source = self.source if path == self.mutant.path else ROOT / path
            first = ["-I", str(tree / "src"), f"-fmacro-prefix-map={tree}/="]
            if not self.compile_with(path, source, made, first, [level, *flags]):
                return None, False
            objects[path] = made
            same = same and not flags and made.read_bytes() == self.bench.unchanged(path, level).read_bytes()
        return objects, same

    def compile_with(self, path, source, made, first, flags):
        words, _ = self.bench.build.compiles[path]
        kept = [word for word in words[1:] if not re.match(r"-O\d", word)]
        return run([words[0], *first, *kept, *flags, "-o", made, "-c", source], cwd=self.bench.build.folder).returncode == 0

    def program_of(self, objects, *flags):
        """What a case asks for programs: linked when first asked for."""
        made, replaced = {}, {self.bench.build.compiles[path][1]: one for path, one in objects.items()}

        def program(name):
            if name not in made:
                made[name] = self.folder / ("checked " + name if flags else name)
                self.bench.build.link(name, made[name], replaced, *flags)
            return made[name]
        return program

    def judge(self):
        """(what became of it, by which case)"""
        objects, same = self.compile("-O1")
        if objects is None:
            return "no program", ""
        if same:
            return "same code", ""
        cases = self.bench.cases_at(self.mutant.path, self.mutant.line)
        program = self.program_of(objects)
        for case in cases:
            usual = self.bench.seconds[case.name]
            limits = digests.Limits(max(2, math.ceil(8 * usual)), 15 + 60 * usual, MEMORY)
            if case.outcome(program, limits) != case.expected(self.bench.known):
                return "noticed", case.name
        optimised, same = self.compile("-O2")
        if optimised and same:
            return "same code", ""
        return self.judge_checked(cases)

    def judge_checked(self, cases):
        objects, _ = self.compile("-O1", *CHECKED)
        program = self.program_of(objects, *CHECKED)
        for case in cases:
            usual = self.bench.seconds[case.name]
            limits = digests.Limits(max(10, math.ceil(30 * usual)), 30 + 120 * usual)
            if case.name not in self.bench.unfit and case.outcome(program, limits, self.bench.checked) != case.expected(self.bench.known):
                return "noticed", f"{case.name}, checked"
        return "survived", f"{len(cases)} cases reach it"


class Judge:
    """A worker's part: mutants one after the other."""

    def __init__(self, bench):
        self.bench = bench

    def __call__(self, mutant):
        with tempfile.TemporaryDirectory(dir=self.bench.work) as folder:
            begin = time.monotonic()
            try:
                verdict, by = Trial(self.bench, mutant, folder).judge()
            except RuntimeError as error:
                verdict, by = "no program", str(error)
            return mutant, verdict, by, time.monotonic() - begin


# ---- the whole -------------------------------------------------------------------------------------------------------------------

def users_of(build, headers):
    """{header: files of the build that include it}"""
    found = {header: [] for header in headers}
    if not headers:
        return found
    for path, (words, _) in build.compiles.items():
        text = run([*[word for word in words if not re.match(r"-O\d", word)], "-MM", "-MT", "x", ROOT / path], cwd=build.folder).stdout
        named = {os.path.relpath(word, ROOT) for word in text.replace("\\\n", " ").split()[1:]}
        for header in headers:
            if header in named:
                found[header].append(path)
    return found


class FullBench(Bench):
    """With headers: files that include a changed one are compiled again, and compared with what they were."""

    def __init__(self, build, work, targets, jobs, headers, words):
        self.users = users_of(build, headers)
        self.more = {path for paths in self.users.values() for path in paths}
        super().__init__(build, work, targets, jobs, words)

    def includes(self, path):
        return path in self.more

    def unchanged(self, path, level):
        """The object of the unchanged file; made when first asked for, by whichever worker asks."""
        made = self.work / (path.replace("/", "#") + level + ".unchanged.o")
        if not made.exists():
            own = made.with_suffix(f".{os.getpid()}")
            self.build.compile(path, ROOT / path, own, level, f"-fmacro-prefix-map={ROOT}/=")
            own.rename(made)
        return made


def listed(path):
    """Keys of mutants that a file lists: what stands before the tab of each line."""
    return {line.rsplit("\t", 1)[0] for line in Path(path).read_text().splitlines() if line and not line.startswith("#")}


def is_listed(mutant, keys):
    """By itself, or with all changes of its line: `FILE: LINE: *`."""
    return mutant.key() in keys or f"{mutant.path}: {mutant.source_line}: *" in keys


def files_of(asked):
    """Sources and headers under the files and folders that were asked for."""
    files = []
    for name in asked:
        path = ROOT / name if (ROOT / name).exists() else Path(name).resolve()
        if not path.exists():
            raise SystemExit(f"./dev mutate: there is no {name}")
        files += [path] if path.is_file() else sorted([*path.rglob("*.c"), *path.rglob("*.h")])
    return [str(path.relative_to(ROOT)) for path in files]


def chosen_mutants(asked):
    known = listed(HERE / "harmless.txt")
    found = [mutant for path in files_of(asked.files) for mutant in mutants_of(path, (ROOT / path).read_text())]
    found = [mutant for mutant in found if not is_listed(mutant, known)]
    if asked.again:
        wanted = listed(asked.again)
        found = [mutant for mutant in found if is_listed(mutant, wanted)]
    if asked.count and asked.count < len(found):
        found = sorted(random.Random(asked.seed).sample(found, asked.count), key=lambda one: (one.path, one.start))
    return found


def arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", default=USUAL, metavar="FILE", help="sources or folders of them")
    parser.add_argument("--count", type=int, help="draw so many changes; without it all are tried")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="say which changes there are, and try none")
    parser.add_argument("--survivors", metavar="FILE", help="also write those that nothing noticed to a file")
    parser.add_argument("--again", metavar="FILE", help="only those that a file of --survivors lists")
    parser.add_argument("--minutes", type=float, help="try no more after so long")
    parser.add_argument("--cases", action="append", metavar="WORD", help="ask only cases whose name contains a word")
    parser.add_argument("--carry", action="store_true", help="only make the build folder fit for a machine without libzstd's headers")
    parser.add_argument("--build", default=str(ROOT / "build-mutate"), help="folder of the build")
    return parser.parse_args()


def try_all(bench, mutants, asked):
    """Yields (mutant, verdict, by) as they end, until the time is up."""
    order = list(mutants)
    random.Random(asked.seed).shuffle(order)  # so that those tried in a given time are a fair draw
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        for count, (mutant, verdict, by, seconds) in enumerate(pool.imap_unordered(Judge(bench), order), 1):
            yield mutant, verdict, by
            if os.environ.get("MUTATE_VERBOSE"):
                print(f"{verdict} {seconds:.1f} s {by[:60]}: {mutant}", file=sys.stderr, flush=True)
            if asked.minutes and time.monotonic() - begin > 60 * asked.minutes:
                print(f"{count} of {len(order)} tried in {asked.minutes:g} minutes", flush=True)
                pool.terminate()
                return


def by_folder(verdicts):
    """{folder: [noticed, counted]}"""
    table = defaultdict(lambda: [0, 0])
    for mutant, verdict, _ in verdicts:
        row = table[mutant.path if mutant.path.count("/") < 3 and mutant.path.endswith("part.c") else os.path.dirname(mutant.path)]
        row[0] += verdict == "noticed"
        row[1] += verdict in ("noticed", "survived")
    return table


def main():
    asked = arguments()
    mutants = chosen_mutants(asked)
    if asked.list:
        print("\n".join([*map(str, mutants), f"{len(mutants)} changes"]))
        return
    build = Build(asked.build)
    if asked.carry:
        print(f"{build.folder} can be carried: --build names it there")
        return
    with tempfile.TemporaryDirectory(prefix="flitwarp-mutate-") as work:
        targets = sorted({mutant.path for mutant in mutants})
        bench = FullBench(build, work, targets, asked.jobs, [path for path in targets if path.endswith(".h")], asked.cases)
        print(f"{len(mutants)} changes in {len(targets)} files; measuring {len(bench.cases)} cases", flush=True)
        bench.measure()
        verdicts = []
        for mutant, verdict, by in try_all(bench, mutants, asked):
            verdicts.append((mutant, verdict, by))
            if verdict == "survived":
                print(f"survived: {mutant} ({by})", flush=True)
    survivors = sorted(mutant.key() + "\t" + by for mutant, verdict, by in verdicts if verdict == "survived")
    if asked.survivors:
        Path(asked.survivors).write_text("".join(line + "\n" for line in survivors))
    for folder, (noticed, counted) in sorted(by_folder(verdicts).items()):
        print(f"{folder}: {noticed} of {counted}")
    noticed = sum(verdict == "noticed" for _, verdict, _ in verdicts)
    counted = noticed + len(survivors)
    print(f"{len(verdicts) - counted} changes were none: no program, or the same code")
    print(f"{noticed} of {counted} noticed")


if __name__ == "__main__":
    main()
