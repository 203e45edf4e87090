# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` and the Debian package leave works by itself: nothing of it needs the tree that it was built in.

The build of the program under test is installed into a folder of its own; what runs here knows nothing of the tree: neither FLITWARP nor PYTHONPATH.
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import PROGRAM, ROOT

BUILD = Path(PROGRAM).resolve().parent
CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}

pytestmark = pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists() or not shutil.which("cmake"),
                                reason="the program under test was not built by CMake here")


def call(*command, cwd=None, status=0, **environment):
    ended = subprocess.run([str(word) for word in command], cwd=cwd, env={**CLEAN, **environment}, capture_output=True,
                           text=True, timeout=120, check=False)
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout if status == 0 else ended.stderr


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    place = tmp_path_factory.mktemp("installed")
    call("cmake", "--install", BUILD, "--prefix", place / "first")
    (place / "first").rename(place / "moved")  # no file may know where it was installed
    return place / "moved"


@pytest.fixture(scope="module")
def flitwarp(prefix):
    return prefix / "bin" / "flitwarp"


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def knows(folder, *paths):
    """The files that have one of the paths in them."""
    return [path for path in files(folder) if any(str(where).encode() in path.read_bytes() for where in paths)]


# ---- what there is ----


def test_nothing_installed_knows_the_tree_or_where_it_was_installed(prefix):
    assert len(files(prefix)) > 200
    assert not knows(prefix, ROOT, BUILD, prefix.parent)


def test_all_parts_are_there(prefix):
    for part in ("bin/flitwarp", "bin/flitwarp-sweep", "bin/flitwarp-plot", "share/pkgconfig/flitwarp.pc",
                 "share/man/man1/flitwarp.1", "share/bash-completion/completions/flitwarp", "lib/flitwarp",
                 "share/doc/flitwarp/README.md", "share/doc/flitwarp/docs/guide.md", "share/doc/flitwarp/CITATION.cff"):
        assert (prefix / part).exists(), part
    for tree, place in (("include/flitwarp", "include/flitwarp"), ("examples", "share/doc/flitwarp/examples"),
                        ("python/flitwarp", "lib/python3/dist-packages/flitwarp")):
        here = {path.relative_to(ROOT / tree) for path in files(ROOT / tree) if path.suffix != ".pyc"}
        assert {path.relative_to(prefix / place) for path in files(prefix / place)} == here


def test_an_installed_example_runs(prefix, flitwarp, tmp_path):
    example = prefix / "share" / "doc" / "flitwarp" / "examples" / "torus_uniform.json"
    assert json.loads(call(flitwarp, "run", example, "--quiet", cwd=tmp_path))["complete"]


# ---- plugins ----


@pytest.fixture(scope="module")
def cflags(prefix):
    return call("pkg-config", "--cflags", "flitwarp", PKG_CONFIG_PATH=str(prefix / "share" / "pkgconfig")).split()


def test_a_new_component_is_built_with_the_installed_headers_alone(prefix, flitwarp, cflags, tmp_path):
    shown = call(flitwarp, "new", "application", "mine", cwd=tmp_path)
    assert f"-I{prefix}/include " in shown and str(ROOT) not in shown
    compile_it = ["cc", "-shared", "-fPIC", *cflags, "mine.c", "-o", "mine.so"]
    read = call(*compile_it[:-2], "-M", "-MF", "-", cwd=tmp_path).replace("\\\n", " ").split()[1:]
    ours = [Path(header).resolve() for header in read if "flitwarp" in header]
    assert len(ours) > 5 and all(header.is_relative_to(prefix / "include") for header in ours)
    call(*compile_it, cwd=tmp_path)
    results = json.loads(call(flitwarp, "--plugin", "./mine.so", "run", "mine.json", "--quiet", cwd=tmp_path))
    assert results["complete"] and results["config"]["workload"]["applications"][0]["type"] == "mine"
    assert results["applications"][0]["packets"] > 100


def test_every_installed_header_compiles_without_warnings(prefix, cflags, tmp_path):
    headers = sorted(path.name for path in (prefix / "include" / "flitwarp").iterdir())
    (tmp_path / "all.c").write_text("".join(f'#include "flitwarp/{name}"\n' for name in headers))
    call("cc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *cflags, "all.c", cwd=tmp_path)


def test_an_installed_plugin_is_found_by_its_name(prefix, flitwarp, cflags, tmp_path):
    folder = Path(call("pkg-config", "--variable=plugindir", "flitwarp", PKG_CONFIG_PATH=str(prefix / "share" / "pkgconfig")).strip())
    assert folder.resolve() == prefix / "lib" / "flitwarp"
    call(flitwarp, "new", "size", "mine", cwd=tmp_path)
    call("cc", "-shared", "-fPIC", *cflags, "mine.c", "-o", folder / "mine.so", cwd=tmp_path)
    for name in ("mine", "mine.so"):
        assert re.search(r"^size +mine ", call(flitwarp, "--plugin", name, "list", "size", cwd=tmp_path), re.M)
    assert call(flitwarp, "complete", "--", "--plugin", "mine", "explain", "min", cwd=tmp_path).split()[-1] == "mine"
    assert "plugin 'yours'" in call(flitwarp, "--plugin", "yours", "list", cwd=tmp_path, status=1)


# ---- Python ----


def test_installed_tools_run_a_study_and_draw_it_outside_of_the_tree(prefix, tmp_path):
    pytest.importorskip("matplotlib")
    example = prefix / "share" / "doc" / "flitwarp" / "examples" / "torus_uniform.json"
    (tmp_path / "study.json").write_text(json.dumps({
        "name": "small", "base": str(example), "load": {"values": [0.1, 0.3]},
        "overrides": {"network.topology.widths": [4, 4], "workload.applications.0.warmup": 200,
                      "workload.applications.0.sample": 500}}))
    call(prefix / "bin" / "flitwarp-sweep", "study.json", "--no-report", "--quiet", cwd=tmp_path)
    # the scripts of the tree would take the tree's program, a user's `import flitwarp` the installed one
    found = call("/usr/bin/python3", "-c", "import flitwarp; print(flitwarp.find_binary()); print(flitwarp.version())", cwd=tmp_path,
                 PYTHONPATH=str(prefix / "lib" / "python3" / "dist-packages"), PYTHONDONTWRITEBYTECODE="1").splitlines()
    assert Path(found[0]) == prefix / "bin" / "flitwarp" and re.fullmatch(r"flitwarp \d+\.\d+\.\d+", found[1])
    call(prefix / "bin" / "flitwarp-plot", "load-latency", tmp_path / "out" / "small" / "study.sqlite", "-o", "figure.png",
         cwd=tmp_path, MPLCONFIGDIR=str(tmp_path))
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


# ---- manual ----


def commands():
    return re.findall(r"^  ([a-z-]+) ", call(PROGRAM, "help").split("see also:")[0], re.M)


def flags(command):
    return re.findall(r"^  (--?[a-z][a-z-]*)", call(PROGRAM, "help", command), re.M)


def page(prefix, name, section=1):
    """The text of a page, with the escapes of roff taken back."""
    text = (prefix / "share" / "man" / f"man{section}" / f"{name}.{section}").read_text()
    for roff, plain in (("\\fB", ""), ("\\fR", ""), ("\\-", "-"), ("\\:", ""), ("\\(aq", "'"), ("\\(ha", "^"), ("\\(ga", "`"), ("\\(ti", "~"), ("\\e", "\\")):
        text = text.replace(roff, plain)
    return text


def test_every_command_and_flag_has_its_place_in_the_manual(prefix):
    whole = page(prefix, "flitwarp")
    assert len(commands()) > 15 and sum(len(flags(command)) for command in commands()) > 40
    for command in commands():
        assert re.search(rf"^\.TP\n{command}\b", whole, re.M), command
        own = page(prefix, f"flitwarp-{command}")
        assert f"flitwarp {command}" in own
        for flag in flags(command):
            assert re.search(rf"^\.TP\n{flag}( |$)", own, re.M), (command, flag)


def keys(schema, prefix=""):
    """Dotted keys of an object of the JSON schema, those of blocks inside too."""
    for part in schema.get("anyOf", [schema]):
        for key, value in part.get("properties", {}).items():
            if key != "type" and not key.startswith("$"):
                yield prefix + key
                yield from keys(value, f"{prefix}{key}.")


def test_every_setting_and_component_has_its_place_in_the_manual(prefix):
    schema = json.loads(call(PROGRAM, "schema"))
    config = page(prefix, "flitwarp-config", 5)
    sections = dict(re.findall(r'^\.SH "(\w+)"\n(.*?)(?=^\.SH)', config, re.M | re.S))
    for block in ("simulator", "network", "workload"):
        named = list(keys(schema["properties"][block]))
        assert len(named) > 3 and not [key for key in named if f"\n.TP\n{key}" not in sections[block.upper()]]
    components = page(prefix, "flitwarp-components", 7)
    parts = dict(re.findall(r'^\.SH "(\w+)"\n(.*?)(?=^\.SH)', components, re.M | re.S))
    for entry in json.loads(call(PROGRAM, "list", "--json")):
        own = re.search(rf'^\.SS "{entry["name"]}"\n(.*?)(?=^\.SS|\Z)', parts[entry["kind"].upper()], re.M | re.S)[1]
        assert " ".join(entry["summary"].split()) in own
        for key in keys(schema["$defs"][f"{entry['kind']}.{entry['name']}"]):
            assert f"\n.TP\n{key}" in own, (entry["kind"], entry["name"], key)


def test_tools_in_python_have_their_options_in_the_manual(prefix):
    sweep = page(prefix, "flitwarp-sweep")
    for flag in re.findall(r"^  (--[a-z-]+)", call(ROOT / "bin" / "flitwarp-sweep", "--help"), re.M):
        assert f"\n.TP\n{flag}" in sweep, flag
    plot = page(prefix, "flitwarp-plot")
    for word in re.findall(r"^  ([a-z-]+) ", call(ROOT / "bin" / "flitwarp-plot", "--help").split("FILEs")[0], re.M):
        assert f"\n.TP\n{word}" in plot or word.startswith("load-"), word
    for flag in re.findall(r"^  (--[a-z-]+)", call(ROOT / "bin" / "flitwarp-plot", "scatter", "--help"), re.M):
        assert f"\n.TP\n{flag}" in plot, flag


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff here")
def test_manual_pages_are_set_without_warnings(prefix):
    pages = [path for path in files(prefix / "share" / "man")]
    assert len(pages) == len(commands()) + 5
    for path in pages:
        ended = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", path], capture_output=True, text=True, check=True)
        assert ended.stderr == "", path.name


def test_a_page_is_printed_and_a_wrong_one_refused(tmp_path):
    assert call(PROGRAM, "manual", "run") == call(PROGRAM, "manual", "flitwarp-run")
    assert "flitwarp-config(5)" in call(PROGRAM, "manual").split()
    assert "no page 'walk'" in call(PROGRAM, "manual", "walk", status=1)
    assert "usage: flitwarp manual" in call(PROGRAM, "manual", "run", "--dir", tmp_path, status=1)
    assert "none/man" in call(PROGRAM, "manual", "--dir", tmp_path / "none" / "man", status=3)


# ---- help ----


def test_every_command_tells_its_usage_and_flags():
    for command in commands():
        shown = call(PROGRAM, command, "--help") if command != "complete" else call(PROGRAM, "help", command)
        assert shown.startswith(f"usage: flitwarp {command}") and shown == call(PROGRAM, "help", command)
        for flag in flags(command):
            assert re.search(rf"[\[ ]{flag}[\] =]", shown.split("\n\n")[0] + " "), (command, flag)
    assert call(PROGRAM, "run", "x.json", "-h") == call(PROGRAM, "help", "run") and call(PROGRAM, "-h") == call(PROGRAM, "help")
    assert "did you mean 'run'" in call(PROGRAM, "help", "rum", status=1)
    assert "did you mean '--results'" in call(PROGRAM, "run", "x.json", "--result", "y", status=1)
    assert "comes before the command" in call(PROGRAM, "run", "--plugin", "x.so", status=1)
    assert "program flitwarp-plot" in call(PROGRAM, "plot", status=1)


# ---- completion ----

ASK = """source {script}
compopt() {{ :; }}
COMP_LINE=$1 COMP_POINT=${{#1}}
{function} {program}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(prefix, line, tool="flitwarp"):
    """What bash puts in the place of the last word of the line, or what follows its last =."""
    ask = ASK.format(script=prefix / "share" / "bash-completion" / "completions" / tool, program=prefix / "bin" / tool,
                     function="_flitwarp" if tool == "flitwarp" else "_flitwarp_tool")
    return set(call("bash", "-c", ask, "bash", line, cwd=ROOT).split())


def test_completion_knows_commands_flags_and_components(prefix):
    assert completed(prefix, "flitwarp re") == {"record"}
    assert completed(prefix, "flitwarp ") >= {"run", "view", "--plugin", "--version"}
    assert completed(prefix, "flitwarp run x.json --rate") == {"--rate-log", "--rate-interval"}
    assert completed(prefix, "flitwarp run x.json --sync ") == {"sequential", "conservative", "optimistic"}
    assert completed(prefix, "flitwarp list topol") == {"topology"}
    assert completed(prefix, "flitwarp explain parking") == {"parking_lot"}
    assert completed(prefix, "flitwarp explain network.pl") == {"network.planes"}
    assert {"model", "router"} <= completed(prefix, "flitwarp new ")
    assert "chakra" in completed(prefix, "flitwarp trace-info x --format ")
    assert completed(prefix, "flitwarp help vers") == {"version"}
    assert completed(prefix, "flitwarp run x --results ") == set()  # files are for the shell


def test_completion_knows_the_settings_of_the_configuration_on_the_line(prefix):
    line = "flitwarp run examples/torus_uniform.json "
    schema = json.loads(call(PROGRAM, "schema"))
    router = {key.split(".")[0] for key in keys(schema["$defs"]["router.input_queued"])}
    offered = {re.sub(r"[.=]$", "", word.removeprefix("network.router.")) for word in completed(prefix, line + "network.router.")}
    assert offered == router | {"type"}
    packet = completed(prefix, line + "network.router=packet network.router.")
    assert "network.router.chunk=" in packet and "network.router.vc_allocator=" not in packet
    assert completed(prefix, line + "network.router=pa") == {"packet"}  # bash replaces what follows the =
    assert completed(prefix, line + "network.topology.type=tor") == {"torus"}
    assert completed(prefix, line + "workload.applications.0.lo") == {"workload.applications.0.load="}
    assert completed(prefix, "flitwarp check none.json simulator.sy") == {"simulator.sync="}
    assert completed(prefix, "flitwarp parse none.csv simulator.sy") == set()


def test_completion_of_the_tools_comes_from_their_help(prefix):
    assert completed(prefix, "flitwarp-sweep study.json --est", "flitwarp-sweep") == {"--estimate"}
    assert completed(prefix, "flitwarp-plot scat", "flitwarp-plot") == {"scatter"}
    assert completed(prefix, "flitwarp-plot scatter --x", "flitwarp-plot") == {"--x", "--x-label", "--xlim"}


# ---- version ----


def facts():
    first, *others = call(PROGRAM, "--version").splitlines()
    return first.split()[1], dict(line.strip().split(None, 1) for line in others)


def test_version_tells_how_the_program_was_built():
    version, told = facts()
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M))
    assert told["build"] == cache["CMAKE_BUILD_TYPE"]
    compiler = subprocess.run([cache["CMAKE_C_COMPILER"], "--version"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"\d+\.\d+\.\d+", told["compiler"])[0] in compiler
    assert "-ffp-contract=off" in told["flags"] and ("fsanitize" in told["flags"]) == bool(cache.get("FLITWARP_SANITIZE"))
    assert re.fullmatch(r"[0-9a-f]{7,40}( with changes)?|unknown", told["commit"])
    libraries = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
    for name, library in {"MPI": "libmpi", "METIS": "libmetis", "BZIP2": "libbz2", "CIVETWEB": "libcivetweb",
                          "SQLITE": "libsqlite3", "ZLIB": "libz.so"}.items():
        with_it, without = name in told["with"].split(), name in told["without"].split()
        assert with_it != without and (not with_it or library in libraries), name
    assert ("OPENCL" in told["with"].split()) != ("OPENCL" in told["without"].split())
    assert "libOpenCL" not in libraries  # it is loaded when a device is asked for
    assert told["viewer"] in ("page and engine built in", "page built in", "no page")
    assert call(PROGRAM, "version") == call(PROGRAM, "--version")


def test_a_release_has_one_version_and_one_date():
    version, _ = facts()
    places = {"src/base/version.h": r'FLITWARP_VERSION "(.+)"', "CITATION.cff": r"^version: (.+)$", "viewer/package.json": r'"version": "(.+)"',
              "packaging/conda/meta.yaml": r'set version = "(.+)"', "packaging/spack/package.py": r'version\("(.+)"\)'}
    texts = {place: (ROOT / place).read_text() for place in (*places, "CHANGELOG.md", "include/flitwarp/component.h")}
    assert {place: re.findall(pattern, texts[place], re.M) for place, pattern in places.items()} == {place: [version] for place in places}
    assert f"flitwarp-{version}.tar.gz" in texts["packaging/spack/package.py"]
    headings = re.findall(r"^## (.*)$", texts["CHANGELOG.md"], re.M)
    released = re.search(r'^date-released: "(\d{4}-\d\d-\d\d)"$', texts["CITATION.cff"], re.M)[1]
    assert [heading for heading in headings if heading != "Unreleased"][0] == f"{version} - {released}"
    interface = re.search(r"FLITWARP_INTERFACE (\d+)", texts["include/flitwarp/component.h"])[1]
    assert f"plugins are built for interface {interface}\n" in texts["CHANGELOG.md"]


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git here")
def test_the_commit_is_the_last_that_changed_the_program(tmp_path):
    """By packaging/commit.cmake, in a repository of its own; and from the file that an archive has in its place."""
    tree, out = tmp_path / "tree", tmp_path / "commit.c"
    for folder in ("src", "docs", "packaging"):
        (tree / folder).mkdir(parents=True)

    def git(*words):
        return call("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", tree, *words, HOME=str(tmp_path)).strip()

    def commit(path, text):
        (tree / path).write_text(text)
        git("add", ".")
        git("commit", "-qm", path)
        return git("rev-parse", "HEAD")

    def told():
        call("cmake", f"-DSOURCE={tree}", f"-DOUT={out}", "-P", ROOT / "packaging" / "commit.cmake")
        return re.search(r'build_commit\[\] = "(.*)";', out.read_text())[1]

    assert told() == "unknown"
    (tree / "packaging" / "COMMIT").write_text("$Format:%h$\n")  # as it is outside of archives
    assert told() == "unknown"
    (tree / "packaging" / "COMMIT").write_text("0123abc\n")
    assert told() == "0123abc"
    git("init", "-q")
    first = commit("src/a.c", "a")
    assert first.startswith(told()) and len(told()) >= 12
    written = out.stat().st_mtime_ns
    commit("docs/a.md", "a")
    assert first.startswith(told()) and out.stat().st_mtime_ns == written  # so nothing is compiled again
    (tree / "src" / "a.c").write_text("b")
    assert told().endswith(" with changes")
    assert commit("src/a.c", "b").startswith(told())


# ---- the Debian package ----


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    missing = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"there is no {', '.join(missing)} here")
    place = tmp_path_factory.mktemp("package")
    call("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", place, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=place)
    [made] = place.glob("*.deb")
    return made


def test_package_says_what_it_is_and_needs(package):
    fields = call("dpkg-deb", "-f", package)
    for line in (r"Package: flitwarp", r"Section: science", r"Maintainer: flitwarp developers", r"Depends: .*libc6.*libzstd1.*",
                 r"Recommends: .*python3-matplotlib.*", rf"Version: {re.escape(facts()[0])}", r"Description: simulator .*"):
        assert re.search(rf"^{line}$", fields, re.M), line
    assert f"_{facts()[0]}_" in package.name


def test_package_works_where_it_is_unpacked(package, tmp_path):
    root = tmp_path / "root"
    call("dpkg-deb", "-x", package, root)
    assert not knows(root, ROOT, BUILD, package.parent)
    assert (root / "usr/share/doc/flitwarp/copyright").exists() and (root / "usr/share/man/man1/flitwarp-run.1").exists()
    assert all(path.relative_to(root).parts[0] == "usr" for path in files(root))
    assert call(root / "usr/bin/flitwarp", "--version") == call(PROGRAM, "--version")
    assert call(root / "usr/bin/flitwarp-sweep", "--help", cwd=tmp_path).startswith("usage: flitwarp-sweep")
    sections = call("readelf", "-S", root / "usr/bin/flitwarp")
    assert ".debug_info" not in sections and ".symtab" not in sections
