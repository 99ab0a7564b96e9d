"""Builds llama-cpp-python as a portable wheel, once per version and kind of machine.

Upstream's source build compiles every tool and an image encoder that Anima never loads. Only `libllama` and the
`ggml` libraries are compiled here, for a baseline that every machine of the same kind can run, so the wheel may lie in
a cache that outlives the clone.
"""

from __future__ import annotations

import os
import platform
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

VERSION = "0.3.36"

# Raised whenever the options below change what is compiled: a wheel of an older recipe is then built anew.
RECIPE = 1

_CMAKE_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "BUILD_SHARED_LIBS": "ON",
    "GGML_NATIVE": "OFF",
    "LLAMA_BUILD_COMMON": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_TOOLS": "OFF",
    "LLAMA_BUILD_SERVER": "OFF",
    "LLAMA_CURL": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "CMAKE_INSTALL_RPATH": "$ORIGIN",
    "CMAKE_BUILD_WITH_INSTALL_RPATH": "ON",
    # A wheel holds no symbolic links: with versioned names each library would be stored, and loaded, twice.
    "CMAKE_PLATFORM_NO_VERSIONED_SONAME": "ON",
}

_X86_V3 = ("avx", "avx2", "bmi2", "f16c", "fma")

RunLogged = Callable[..., None]
"""Runs a command (list of str, `env=`, `cwd=`), sends its output to the log, raises when it fails."""


def _cpu_flags() -> frozenset[str]:
    """The instruction-set words of the first processor, empty where the kernel does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def cpu_baseline(machine: str, flags: frozenset[str]) -> tuple[str, dict[str, str]]:
    """Name of the instruction set to compile for, and the CMake options that ask for it.

    `machine` is what `uname -m` says, `flags` the words of /proc/cpuinfo. Compiling for less than the processor can
    costs speed; compiling for more is a crash without a message, so what is not known to be there is left out.
    """
    if machine in ("x86_64", "AMD64"):
        if flags.issuperset(_X86_V3):
            return "x86_64-v3", {}
        off = {f"GGML_{word}": "OFF" for word in ("AVX", "AVX2", "BMI2", "FMA", "F16C")}
        return "x86_64-v2", off
    if machine == "aarch64" and flags.issuperset(("asimddp", "fphp", "asimdhp")):
        return "aarch64-v8.2-dotprod", {"GGML_CPU_ARM_ARCH": "armv8.2-a+dotprod+fp16"}
    return machine, {}


def cached_wheel_dir(cache: Path) -> Path:
    """Folder under `cache` that holds the wheel for this machine's processor and C library."""
    baseline, _ = cpu_baseline(platform.machine(), _cpu_flags())
    libc = "".join(platform.libc_ver()) or "libc"
    return cache / "wheels" / f"llama_cpp_python-{VERSION}-r{RECIPE}-{baseline}-{libc}"


def find_wheel(cache: Path) -> Path | None:
    """The wheel built earlier for this kind of machine, or None."""
    return next(iter(sorted(cached_wheel_dir(cache).glob("*.whl"))), None)


def build_wheel(cache: Path, python: Path, run: RunLogged) -> Path:
    """Compile with the interpreter `python` (of the project's environment) and put the wheel into the cache.

    Takes about 4 processor minutes. Raises what `run` raises when a command fails; leaves the cache as it was then.
    """
    home = cached_wheel_dir(cache)
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="llama-", dir=_scratch(cache)) as scratch:
        work = Path(scratch)
        name = "llama-cpp-python"
        run([python, "-m", "pip", "download", "--no-deps", "--no-binary", name, "-d", work, f"{name}=={VERSION}"])
        source = _unpack(next(work.glob("*.tar.gz")), work / "source")
        libraries = _compile(source / "vendor" / "llama.cpp", work / "build", run)
        # The package's own CMake project is told to build nothing; the libraries go in as its data files.
        target = source / "llama_cpp" / "lib"
        target.mkdir(exist_ok=True)
        for library in libraries:
            shutil.copy2(library, target / library.name)
        (source / ".gitignore").unlink(missing_ok=True)  # the build back end would leave out the libraries it names
        env = {**os.environ, "CMAKE_ARGS": "-DLLAMA_BUILD=OFF"}
        out = work / "wheel"
        run([python, "-m", "pip", "wheel", "--no-deps", "--no-cache-dir", "-w", out, source], env=env)
        wheel = next(out.glob("*.whl"))
        home.mkdir(exist_ok=True)
        # Same file system as the cache: the rename is atomic, so another set-up never sees half a wheel.
        os.replace(wheel, home / wheel.name)
        return home / wheel.name


def _scratch(cache: Path) -> Path:
    folder = cache / "build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _unpack(archive: Path, target: Path) -> Path:
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(target, filter="data")
        else:
            tar.extractall(target)
    return next(target.iterdir())


def _compile(source: Path, build: Path, run: RunLogged) -> list[Path]:
    _, extra = cpu_baseline(platform.machine(), _cpu_flags())
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = [f"-D{key}={value}" for key, value in {**_CMAKE_OPTIONS, **extra}.items()]
    run(["cmake", "-S", source, "-B", build, *generator, *options])
    run(["cmake", "--build", build, "--target", "llama", "--parallel", str(os.cpu_count() or 1)])
    libraries = sorted((build / "bin").glob("*.so"))
    if not any(library.name == "libllama.so" for library in libraries):
        raise FileNotFoundError(f"the build of llama.cpp left no libllama.so in {build / 'bin'}")
    return libraries
