"""What Alpine's packages are called in Debian: an image of Alpine becomes an environment with Debian's programs.

Programs of both are the same but for the C library and for busybox, whose place GNU's programs take. A package that is
not listed here refuses its task, since another of that name may hold something else.
"""

from __future__ import annotations

__all__ = ["debian_packages"]

_SAME = frozenset({
    "autoconf", "automake", "bash", "bc", "bison", "ca-certificates", "cargo", "cmake", "coreutils", "cpio", "curl",
    "diffutils", "ffmpeg", "file", "findutils", "flex", "g++", "gawk", "gcc", "gdb", "gettext", "git", "gnupg", "gperf",
    "graphviz", "grep", "gzip", "imagemagick", "jq", "less", "libtool", "lua5.4", "m4", "make", "meson", "nano", "nasm",
    "nodejs", "npm", "openssl", "parallel", "patch", "perl", "pkgconf", "procps", "ripgrep", "rsync", "ruby", "sed",
    "socat", "strace", "tar", "tmux", "tree", "tzdata", "unzip", "util-linux", "valgrind", "vim", "wget", "yq", "zip",
    "zstd",
})  # fmt: skip
_OTHER = {
    "build-base": ("gcc", "g++", "make"), "musl-dev": (), "libc-dev": (), "linux-headers": (), "libc6-compat": (),
    "gcompat": (), "alpine-sdk": ("gcc", "g++", "make"), "python3": (), "py3-pip": (), "python3-dev": (),
    "py3-setuptools": (), "py3-wheel": (), "py3-virtualenv": (), "shadow": (), "su-exec": (), "tini": ("tini",),
    "go": ("golang-go",), "rust": ("rustc",), "sqlite": ("sqlite3",), "sqlite-dev": ("libsqlite3-dev",),
    "openssl-dev": ("libssl-dev",), "libffi-dev": ("libffi-dev",), "zlib-dev": ("zlib1g-dev",), "xz": ("xz-utils",),
    "postgresql-client": ("postgresql-client",), "openssh-client": ("openssh-client",), "bind-tools": ("dnsutils",),
    "openjdk17": ("openjdk-17-jdk-headless",), "openjdk17-jdk": ("openjdk-17-jdk-headless",), "php": ("php-cli",),
    "ninja": ("ninja-build",), "samurai": ("ninja-build",), "icu-libs": (), "libstdc++": (), "libgcc": (), "apt": (),
    "ncurses": (), "readline": (), "ruby-dev": ("ruby-dev",), "curl-dev": ("libcurl4-openssl-dev",),
    "libxml2-dev": ("libxml2-dev",), "libxslt-dev": ("libxslt1-dev",), "yaml-dev": ("libyaml-dev",),
    "bzip2": ("bzip2",), "procps-ng": ("procps",), "iproute2": ("iproute2",),
    "musl": (), "busybox-extras": (), "dumb-init": ("dumb-init",),
    "pkgconfig": ("pkgconf",),
}  # fmt: skip


def debian_packages(words: list[str]) -> list[str]:
    """Debian's packages for those that `apk` adds; none where it does something else.

    Args:
        words: After `apk`.

    Raises:
        ValueError: One of them is not known.
    """
    if "add" not in words:
        return []
    found: list[str] = []
    rest = words[words.index("add") + 1 :]
    while rest:
        word = rest.pop(0)
        if word in ("-t", "--virtual", "-X", "--repository") and rest:
            rest.pop(0)
        elif not word.startswith("-"):
            name = word.partition("=")[0].partition("~")[0].partition(">")[0].partition("@")[0]
            if name not in _OTHER and name not in _SAME:
                raise ValueError(f"Its Dockerfile installs {name[:40]} of Alpine, whose name in Debian is not known.")
            found += _OTHER.get(name, (name,))
    return found
