"""What a Dockerfile comes to as a task's environment, understood as far as packages, files, folders and commands go."""

from __future__ import annotations

import copy
import re
import shlex
from pathlib import Path, PurePosixPath

from repoassay.interchange.build_hosts import MODULES_KEPT, BuildHosts, in_environment, starters, with_arguments
from repoassay.interchange.harbor_files import leads_inside, link_commands
from repoassay.interchange.image_file import (
    NOT_KEPT,
    ImageInstruction,
    ImageRecipe,
    ImportRefusal,
    absolute_place,
    fill_variables,
    is_kept,
    listed_words,
    read_instructions,
    without_registry,
)
from repoassay.interchange.image_ignored import leave_out_ignored
from repoassay.interchange.image_programs import check_programs, listed_packages, passes_on, stand_in
from repoassay.interchange.image_stages import ImageStage, copy_command, join_stages
from repoassay.interchange.image_toolchains import chain_into, copied_go, lay_in_environment, tool_chain_of
from repoassay.interchange.shell_steps import read_shell

__all__ = ["read_image"]

_MOST_TEXT = 2**20
_MOST_WORDS = 20_000
"""Characters of one instruction."""
_IDLE = re.compile(r"^(bash|sh|/bin/bash|/bin/sh|sleep( infinity)?|tail -f /dev/null|python3?|-l|-c|exec| )*$")
_OWN_PATH = re.compile(r"/(?!(usr|bin|sbin)(/local)?(/s?bin)?/?$|usr/local/s?bin/?$|root/\.(local|cargo)/)[\w./+-]+$")
"""A folder of a search path that only this image has."""
_PASSED_OVER = frozenset({"EXPOSE", "LABEL", "MAINTAINER", "VOLUME", "STOPSIGNAL", "SHELL", "CMD"})
"""Harbor gives the container a command of its own, so that CMD is never run; ENTRYPOINT is, before it."""


def read_image(file: Path, context: Path, name: str, *, wider: Path | None = None) -> ImageRecipe:
    """Understand a Dockerfile.

    Args:
        file: The Dockerfile.
        context: The folder that COPY takes files from.
        name: What to call the file.
        wider: The task's folder, where an image is named that may have been made from there; its solution is not in it.

    Raises:
        ImportRefusal: It says something that is not understood; the line is named.
    """
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_TEXT:
        raise ImportRefusal("It has no Dockerfile.", name)
    reader = _Reader(context, name, wider)
    for step in read_instructions(file.read_text("utf-8", "replace")):
        try:
            reader.take(step)
        except ValueError as error:
            raise ImportRefusal(str(error), name, step.line, f"{step.word} {step.rest}") from error
    if not reader.based:
        raise ImportRefusal("Its Dockerfile has no FROM.", name)
    try:
        join_stages(sorted(reader.run, key=lambda stage: stage.number), reader.recipe)
        lay_in_environment(reader.recipe)
    except ValueError as error:
        raise ImportRefusal(str(error), name) from error
    for laid in (reader.recipe.files, reader.recipe.links):
        leave_out_ignored(laid, file, context)
    reader.recipe.build[:0] = link_commands(reader.recipe.links)
    if reader.recipe.build:
        reader.recipe.build += starters(reader.recipe.paths)
    return reader.recipe


class _Reader:
    """Takes instructions one after the other."""

    def __init__(self, context: Path, name: str, wider: Path | None) -> None:
        self.recipe, self.based = ImageRecipe(), False
        self._context, self._name, self._wider = context, name, wider
        self._known: dict[str, str] = {}
        self._given: dict[str, str] = {}
        self._stages: list[tuple[str, ImageRecipe, dict[str, str]]] = []
        self.run: list[ImageStage] = []

    def take(self, step: ImageInstruction) -> None:
        """Take one instruction; raises ValueError with the reason where it is not understood."""
        if len(step.rest) > _MOST_WORDS:
            raise ValueError("Its Dockerfile has an instruction that is longer than any that is read.")
        known = {"FROM": self._from, "RUN": self._run, "COPY": self._copy, "ADD": self._copy, "ENV": self._env,
                 "ARG": self._arg, "WORKDIR": self._work, "USER": self._user,
                 "ENTRYPOINT": self._start}  # fmt: skip
        take = known.get(step.word)
        if take is not None:
            take(step.rest)
        elif step.word not in _PASSED_OVER:
            raise ValueError(f"Its Dockerfile has {step.word[:20]}, which is not understood.")

    def _from(self, rest: str) -> None:
        words = [word for word in fill_variables(rest, self._given).split() if not word.startswith("--")]
        image, name = words[0] if words else "", words[2].lower() if len(words) > 2 else ""
        earlier = self._stage(image)
        self._known = dict(earlier[2]) if earlier else {}
        self.recipe = copy.deepcopy(earlier[1]) if earlier else ImageRecipe()
        self._stages.append((name, self.recipe, self._known))
        if earlier:
            return
        image = without_registry(image)
        chain = tool_chain_of(image)
        if chain is None:
            plain = re.sub(r"[:@].*", "", image)[:60]
            raise ValueError(f"Its image is made from {plain}, which is no plain Python, Debian or Ubuntu.")
        chain_into(self.recipe, chain)
        self.based, self.recipe.base = True, image
        if "laude-institute/t-bench/" in image:
            self._work("/app")

    def _stage(self, name: str) -> tuple[str, ImageRecipe, dict[str, str]] | None:
        """An earlier stage by its name, the last that bears it, or by its number."""
        named = [stage for stage in self._stages if stage[0] and stage[0] == name.lower()]
        numbered = self._stages[int(name)] if re.fullmatch(r"\d{1,3}", name) and int(name) < len(self._stages) else None
        return named[-1] if named else numbered

    def _user(self, rest: str) -> None:
        """Root is whoever works in a sandbox; see `check_working_account` for any other."""
        name = fill_variables(rest, self._known).strip().partition(":")[0]
        self.recipe.account = "" if name in ("root", "0") else name

    def _run(self, rest: str) -> None:
        while rest.startswith("--"):  # mounts of caches
            rest = rest.partition(" ")[2].lstrip()
        if rest.startswith('["'):
            rest = shlex.join(listed_words(rest))
        hosts = BuildHosts(self._known)
        steps = read_shell(rest, hosts)
        for chain in steps.chains:
            chain_into(self.recipe, chain)
        for name in steps.apt:
            if version := re.fullmatch(r"python(3\.\d{1,2})(-[a-z]+)?", name):  # of a repository beside Debian's
                self.recipe.python = version[1]
            else:
                self.recipe.apt.append(name)
        self.recipe.folders += [
            self._place(folder) for folder in steps.folders if not folder.startswith(("/logs", "/tests", "/solution"))
        ]
        for wanted in steps.pip:
            file = self._place(fill_variables(wanted[3:], self._known)) if wanted.startswith("-r ") else ""
            self.recipe.pip += listed_packages(self.recipe.files.get(file)) if file else [wanted]
        self.recipe.users += steps.users
        self.recipe.agents += steps.agents
        makes = any(not re.match(r"(rm [^&|;]*|&& )+$", command) for command in steps.build)
        self.recipe.roots = (self.recipe.roots or (makes and not self.recipe.account)) and not steps.owned
        for account, places in steps.owned:
            tops = [self._place(fill_variables(place, self._known)) for place in places]
            self.recipe.give_below(fill_variables(account, self._known), tops)
        for named in steps.venvs:
            place = self._place(fill_variables(named, self._known))
            self.recipe.venvs.append(place)
            if not re.match(r"/(usr|lib|bin|sbin|env|run)(/|$)", place):  # the machine's, where no stand-in can be
                self.recipe.folders.append(f"{place}/bin")
                self.recipe.build.append(stand_in(place))
        self.recipe.git |= steps.git
        for command in steps.build:
            check_programs(command, self.recipe.files, self._place, hosts)
            other = {*self.recipe.variables, *NOT_KEPT}
            known = {name: value for name, value in self._known.items() if name not in other}
            whole = with_arguments(in_environment(command), known)
            if re.search(r"\b(go|cargo) install\s", command):
                whole = f"export GOBIN=/env/bin CARGO_INSTALL_ROOT=/env && {whole}"
            self.recipe.build.append(f"cd {shlex.quote(self.recipe.work)} && {whole}")
        self.recipe.hosts |= hosts.named
        for program in sorted(hosts.modules):
            self.recipe.variables = {**MODULES_KEPT.get(program, {}), **self.recipe.variables}

    def _copy(self, rest: str) -> None:
        options = []
        while rest.startswith("--"):
            option, _, rest = rest.partition(" ")
            options.append(option)
            rest = rest.lstrip()
        if origin := next((option for option in options if option.startswith("--from")), ""):
            stage = self._stage(fill_variables(origin.partition("=")[2], self._known))
            if stage is None and re.search(r"astral-sh/uv|=uv$", origin):
                return
            if stage is None or stage[1] is self.recipe:
                raise ValueError("Its Dockerfile copies files out of another image.")
            self._copy_from(stage[1], fill_variables(rest, self._known))
            return
        if "<<" in rest:
            raise ValueError("Its Dockerfile writes files out of itself.")
        if any(option.startswith("--exclude") for option in options):
            raise ValueError("Its Dockerfile copies all but some files.")
        words = listed_words(rest) if rest.startswith("[") else shlex.split(fill_variables(rest, self._known))
        *sources, target = words
        before = {*self.recipe.folders, *self.recipe.files}
        for source in sources:
            if re.match(r"[a-z]+://", source):
                raise ValueError("Its Dockerfile fetches a file from an address.")
            self._copy_one(source, target, several=len(sources) > 1)
        for option in options:
            if option.startswith("--chown="):
                new = {*self.recipe.folders, *self.recipe.files} - before
                self.recipe.give(option.partition("=")[2].partition(":")[0], list(new))

    def _copy_from(self, stage: ImageRecipe, rest: str) -> None:
        """Copy what an earlier stage has of the context, or what its commands have made there."""
        *sources, target = listed_words(rest) if rest.startswith("[") else shlex.split(rest)
        top = self._place(target)
        if stage.links:
            raise ValueError("Its Dockerfile copies files out of a stage whose files hold links.")
        for source in sources:
            origin = absolute_place("/", source)
            if origin == top and (go := copied_go(stage, origin)):
                chain_into(self.recipe, go)
                continue
            inner = {place: file for place, file in stage.files.items() if place.startswith(f"{origin.rstrip('/')}/")}
            if stage.build:
                self._copy_made(stage, origin, target, several=len(sources) > 1)
                continue
            if not (inner or origin in stage.files):
                raise ValueError("Its Dockerfile copies files out of a stage that does not have them.")
            for place, file in inner.items():
                self._file(file, f"{top.rstrip('/')}/{place.removeprefix(origin.rstrip('/') + '/')}")
            if inner:
                self.recipe.folders.append(top)
            else:
                into_folder = len(sources) > 1 or target.endswith("/") or top in self.recipe.folders
                self._file(stage.files[origin], f"{top}/{PurePosixPath(origin).name}" if into_folder else top)

    def _copy_made(self, recipe: ImageRecipe, origin: str, target: str, *, several: bool) -> None:
        """Copy out of a stage whose commands have to run first."""
        if not re.fullmatch(r"(/[\w.+@-]+)+", origin):
            raise ValueError("Its Dockerfile copies something of a stage that is not understood.")
        stage = next((stage for stage in self.run if stage.recipe is recipe), None)
        if stage is None:
            number = next(at for at, each in enumerate(self._stages) if each[1] is recipe)
            stage = ImageStage(number, recipe)
            self.run.append(stage)
        into_folder = several or target.endswith(("/", "/.")) or target in (".", "..")
        top = self._place(target)
        self.recipe.folders.append(top if into_folder else str(PurePosixPath(top).parent))
        self.recipe.build.append(in_environment(copy_command(stage, origin, top, into_folder=into_folder)))

    def _copy_one(self, source: str, target: str, *, several: bool) -> None:
        inside = PurePosixPath("/", source)
        if ".." in inside.parts:
            raise ValueError("Its Dockerfile copies a file from outside of its folder.")
        pattern = "/".join(inside.parts[1:])
        many = re.search(r"[*?\[]", source)
        context = self._context
        if self._wider and not (context / pattern).exists() and inside.parts[1:2] not in ((), ("solution",)):
            context = self._wider
        found = sorted(context.glob(pattern)) if many else [context / pattern]
        if not found or not all(path.exists() for path in found):
            raise ValueError("Its Dockerfile copies a file that the task does not have.")
        top = self._place(target)
        if self._wider and top.startswith("/tests"):  # where whoever runs the tests puts them
            return
        into_folder = several or len(found) > 1 or target.endswith(("/", "/.")) or target in (".", "..")
        for path in found:
            if path.is_dir() and not path.is_symlink():
                self.recipe.folders.append(top)
                self._copy_folder(path, top)
            else:
                self._file(path, f"{top}/{path.name}" if into_folder or top in self.recipe.folders else top)

    def _copy_folder(self, folder: Path, top: str) -> None:
        for path in sorted(folder.rglob("*")):
            place = f"{top.rstrip('/')}/{path.relative_to(folder).as_posix()}"
            if path.is_dir() and not path.is_symlink():
                self.recipe.folders.append(place)
            elif leads_inside(path, self._context):
                self.recipe.links[place] = path
            else:
                self._file(path, place)

    def _file(self, path: Path, place: str) -> None:
        if path.is_symlink() or not path.is_file():
            raise ValueError("Its files hold a link or something else that is no plain file.")
        self.recipe.files[place] = path

    def _env(self, rest: str) -> None:
        pairs = shlex.split(rest) if re.match(r"\w+=", rest) else ["=".join(rest.split(None, 1))]
        for pair in pairs:
            name, _, value = pair.partition("=")
            self._known[name] = fill_variables(value, self._known)
            if name == "PATH":
                self.recipe.paths = [part for part in self._known[name].split(":") if _OWN_PATH.match(part)]
            if not is_kept(name):
                continue
            if not re.fullmatch(r"[A-Za-z_]\w{0,99}", name, re.ASCII):
                raise ValueError("Its Dockerfile sets a variable whose name no shell takes.")
            # Where npm puts what is installed for everybody, which here is the environment.
            self.recipe.variables[name] = self._known[name].replace(
                "/usr/local/lib/node_modules", "/env/lib/node_modules"
            )

    def _arg(self, rest: str) -> None:
        name, _, value = rest.partition("=")
        name, known = name.strip(), self._known if self._stages else self._given
        # What stands before the first FROM is known to FROM alone, until a stage asks for it by its name.
        value = fill_variables(value.strip().strip("\"'"), known) or self._given.get(name, "")
        known.setdefault(name, value)

    def _work(self, rest: str) -> None:
        self.recipe.work = self._place(fill_variables(rest, self._known))
        self.recipe.folders.append(self.recipe.work)

    def _start(self, rest: str) -> None:
        words = " ".join(listed_words(rest)) if rest.startswith("[") else rest
        if not _IDLE.match(words.strip()) and not passes_on(self.recipe.files.get(self._place(words.strip()))):
            raise ValueError("Its image starts a program of its own.")

    def _place(self, path: str) -> str:
        """An absolute path in the image."""
        return absolute_place(self.recipe.work, path.strip().strip("\"'"))
