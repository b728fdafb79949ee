"""Rules about the source itself: names, mechanisms that exist once, and nothing of the machine it was made on."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.support.docs import ROOT

SOURCE = ROOT / "src"

# Put together from pieces, so that this file does not contain what it looks for.
MACHINE = "|".join(("ro" + "ot", "wo" + "rk", "ho" + "me", "Us" + "ers"))
REGISTRIES = "|".join(("py" + "pi", "artifact" + "ory", "nex" + "us", "dev" + "pi", "python" + "hosted"))
FORBIDDEN = {
    "a path of one machine": rf"(?<![\w.])/(?:{MACHINE})/",
    "a package index": "(?:extra-)?index" + r"-url|\bfind" + r"-links",
    "a host of a registry": rf"(?i)\b(?:{REGISTRIES})[\w-]*\.[a-z]",
    "a path of a registry": r"://[^\s\"'<>]*/sim" + r"ple\b",
}


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def tracked() -> list[Path]:
    """Files that git tracks or would add; without git, everything that no tool has made."""
    git = shutil.which("git")
    if git is not None and (ROOT / ".git").exists():
        command = [git, "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, check=True)
        return [path for name in done.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]
    hidden = re.compile(r"^\.(?!ci$|importlinter$|gitignore$)|^__pycache__$")
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(hidden.search(part) for part in path.relative_to(ROOT).parts)
    ]


def test_no_file_names_the_machine_or_the_registry_it_was_made_with() -> None:
    patterns = {what: re.compile(pattern) for what, pattern in FORBIDDEN.items()}
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        for what, pattern in patterns.items():
            found += [f"{path.relative_to(ROOT)}: {what}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []


def test_lock_files_name_no_host_and_hash_everything() -> None:
    for path in ROOT.glob("requirements*.lock"):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        pinned = re.findall(r"^[\w.-]+==", text, re.MULTILINE)
        assert pinned
        assert len(re.findall(r"^[\w.-]+==[^\n]*\\\n\s+--hash=sha256:", text, re.MULTILINE)) == len(pinned)


# --- names

PRIVATE_WORDS = {
    *("anew", "dealing", "deed", "ears", "eyes", "farewell", "forgets", "forgotten", "hearing", "hears", "knows"),
    *("placing", "sameness", "sees", "shelve", "somebody", "whatever", "whoever", "workshop", "zygote"),
}
"""Words of our own invention, or in a sense of our own."""
PRIVATE_CLASS_WORDS = PRIVATE_WORDS | {
    *("desk", "heard", "house", "keeper", "look", "losses", "playhead", "telling", "told", "turns", "wish"),
}
"""Also not in names of classes and modules. Elsewhere, some of these have their ordinary sense."""


def words_of(name: str) -> set[str]:
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_"))


def classes() -> dict[str, list[str]]:
    """Modules by the names of the classes that they define."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(SOURCE).as_posix())
    return found


def identifiers(tree: ast.Module) -> set[str]:
    """Names of functions, arguments, attributes and variables."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def test_class_names_are_unique() -> None:
    """Private ones too: a reader who searches for a name finds one definition."""
    assert {name: where for name, where in classes().items() if len(where) > 1} == {}


def test_names_of_classes_and_modules_are_words_of_the_field() -> None:
    names = {*classes(), *(path.stem for path in modules())}
    assert {name for name in names if words_of(name) & PRIVATE_CLASS_WORDS} == set()


def test_identifiers_are_words_of_the_field() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path, tree in modules().items()
        for name in sorted(identifiers(tree))
        if words_of(name) & PRIVATE_WORDS
    ]
    assert found == []


def test_one_module_has_the_distributed_semaphore() -> None:
    assert [where for name, where in classes().items() if name.endswith("Semaphore")] == [
        ["found_footy/storage/limits.py"]
    ]


# --- imports


def imports_of(path: Path, names: set[str]) -> set[str]:
    """Modules that importing this one runs, without those of its functions and of type checking."""
    own = module_name(path)
    found = set()
    for statement in modules()[path].body:
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            submodules = {f"{statement.module}.{alias.name}" for alias in statement.names}
            found |= {statement.module, *(submodules & names)}
    parents = {name[:end] for name in found for end, letter in enumerate(name) if letter == "."}
    return {name for name in (found | parents) & names if name != own and not own.startswith(f"{name}.")}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def test_no_import_is_circular() -> None:
    """Otherwise a module imports or not depending on which was imported first."""
    names = {module_name(path) for path in modules()}
    try:
        TopologicalSorter({module_name(path): imports_of(path, names) for path in modules()}).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


# --- named SQL


def test_every_query_is_used_and_every_used_query_exists() -> None:
    """The queries of `store.sql` are `SQL[...]` in `store.py`; other modules import that mapping under another name."""
    used: dict[str, set[str]] = defaultdict(set)
    for path in (*modules(), *(ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        owners = {alias: module for module, alias in re.findall(r"from ([\w.]+) import SQL as (\w+)", text)}
        if re.search(r"^SQL = load_queries\(", text, re.MULTILINE):
            owners["SQL"] = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for alias, module in owners.items():
            found = re.findall(rf'\b{alias}\[(?:f?"([^"]+)"|(\w+(?:\.\w+)?))\]', text)
            used[module] |= {re.sub(r"\{[^}]*\}", r"\\w+", name) if name else r"\w+" for name, _ in found}
    for module, patterns in used.items():
        text = (SOURCE / module.replace(".", "/")).with_suffix(".sql").read_text(encoding="utf-8")
        queries = re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)
        assert len(set(queries)) == len(queries), module
        assert [name for name in queries if not any(re.fullmatch(each, name) for each in patterns)] == [], module
        assert [each for each in patterns if not any(re.fullmatch(each, name) for name in queries)] == [], module


def query_parameters(path: Path) -> dict[str, set[str]]:
    """Names of the parameters of each query in a file."""
    found: dict[str, set[str]] = {}
    for query in path.read_text(encoding="utf-8").split("-- name: ")[1:]:
        name, _, text = query.partition("\n")
        found[name.strip()] = set(re.findall(r"%\((\w+)\)s", re.sub(r"(?m)^\s*--.*", "", text)))
    return found


def passed_names(call: ast.Call, after: int) -> set[str] | None:
    """Names of the values passed to the query that is the argument before `after`; None if they are computed."""
    if call.args[after:]:
        values = call.args[after]
        if not isinstance(values, ast.Dict):
            return None
        return {key.value for key in values.keys if isinstance(key, ast.Constant)} if all(values.keys) else None
    return {each.arg for each in call.keywords if each.arg} if all(each.arg for each in call.keywords) else None


def test_queries_get_all_their_parameters() -> None:
    """A renamed keyword would only fail when its query runs."""
    wrong, checked = [], 0
    for path, tree in modules().items():
        queries = path.with_suffix(".sql")
        if not queries.exists():
            continue
        parameters = query_parameters(queries)
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            for index, argument in enumerate(call.args):
                if isinstance(argument, ast.Subscript) and ast.unparse(argument.value) == "SQL":
                    name = ast.literal_eval(argument.slice) if isinstance(argument.slice, ast.Constant) else None
                    passed = passed_names(call, index + 1)
                    if name is not None and passed is not None:
                        checked += 1
                        if parameters[name] - passed:
                            wrong.append(f"{path.relative_to(SOURCE)}:{call.lineno}: {parameters[name] - passed}")
    assert wrong == []
    assert checked > 100
