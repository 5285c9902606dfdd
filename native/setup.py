"""Builds the one module of twice-fast, for the version of twice that is written in pyproject.toml."""

import tomllib
from pathlib import Path

from setuptools import Extension, setup

version = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text())["project"][
    "version"
]
setup(
    ext_modules=[
        Extension(
            "twice_fast",
            sources=[f"src/{name}.c" for name in ("blake3", "dicts", "encoder", "module", "read")],
            depends=["src/blake3.h", "src/twice_fast.h", "src/writer.h"],
            define_macros=[("TWICE_VERSION", f'"{version}"')],
            extra_compile_args=[
                "-O3",
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-Wno-unused-parameter",
                "-Wno-missing-field-initializers",
            ],
        )
    ]
)
