"""The one thing that pyproject.toml cannot say: the native engine, which is optional.

Where no C compiler or no Cython is there, installation goes on without the engine and says so; the construct parsers
then do all the work, slower by two to three orders of magnitude.
"""

import os
import runpy
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

_FOLDER = "generator/wireloom/runtime/engine"


class OptionalBuild(build_ext):
    """Builds the engine, or says why there is none."""

    def initialize_options(self) -> None:
        """Compile both of its modules at once."""
        super().initialize_options()
        self.parallel = True

    def run(self) -> None:
        """Build."""
        try:
            super().run()
        except Exception as error:  # noqa: BLE001 - whatever is missing, the package works without
            self._report(error)

    def build_extension(self, ext: Extension) -> None:
        """Build one extension."""
        try:
            super().build_extension(ext)
        except Exception as error:  # noqa: BLE001 - whatever is missing, the package works without
            self._report(error)

    def _report(self, error: Exception) -> None:
        if os.environ.get("WIRELOOM_REQUIRE_ENGINE"):
            raise error
        _tell(error)


def _tell(error: Exception) -> None:
    sys.stderr.write(f"wireloom: the native engine was not built ({error}); construct parsers will be used\n")


def _extensions() -> list[Extension]:
    try:
        from Cython.Build import cythonize  # noqa: PLC0415 - only a build that has it can compile
    except ImportError as error:
        _tell(error)
        return []
    extensions = [_extension(name, level) for name, level in (("_engine", "-O3"), ("_checks", "-O1"))]
    return cythonize(extensions, compiler_directives={"language_level": 3})


def _extension(name: str, level: str) -> Extension:
    # Python's own flags ask for debug information: a fifth of the compiler's time, and four fifths of the library
    flags = os.environ.get("WIRELOOM_ENGINE_CFLAGS", f"{level} -g0").split()
    sources = runpy.run_path(f"{_FOLDER}/sources.py")["digest"](Path(_FOLDER))
    return Extension(
        f"wireloom.runtime.engine.{name}",
        [f"{_FOLDER}/{name}.pyx"],
        include_dirs=[f"{_FOLDER}/native/headers"],
        depends=sorted(str(path) for pattern in ("*.pyx", "*.pxi", "*.h") for path in Path(_FOLDER).rglob(pattern)),
        define_macros=[("WIRELOOM_SOURCES", f'"{sources}"')],
        extra_compile_args=flags,
        extra_link_args=os.environ.get("WIRELOOM_ENGINE_LDFLAGS", "").split(),
        optional=not os.environ.get("WIRELOOM_REQUIRE_ENGINE"),
    )


setup(ext_modules=_extensions(), cmdclass={"build_ext": OptionalBuild})
