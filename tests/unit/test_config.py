"""Configuration from the environment."""

import dataclasses
from pathlib import Path

import pytest

from kernelvault import config


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(config.ServerConfig):
    """A service's settings with a field of each kind."""

    store: str
    workers: int = 2
    strict: bool = False
    folder: Path | None = None
    targets: tuple[str, ...] = ()


def load(**environment: str) -> Settings:
    return config.load(Settings, {"KERNELVAULT_STORE": "s", "HOME": "/h", **environment})


def test_fields_are_parsed_by_their_type() -> None:
    """Each variable becomes a value of the field's type; other programs' variables take no part."""
    given = load(
        KERNELVAULT_WORKERS="3", KERNELVAULT_STRICT="true", KERNELVAULT_FOLDER="/x", KERNELVAULT_TARGETS="a, b,"
    )

    assert given == Settings(store="s", workers=3, strict=True, folder=Path("/x"), targets=("a", "b"))


def test_defaults_stand_where_nothing_is_set() -> None:
    """A field without a variable keeps its default."""
    assert load() == Settings(store="s")


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    """A typing error never goes unnoticed."""
    with pytest.raises(config.ConfigError, match="KERNELVAULT_WORKRES; did you mean KERNELVAULT_WORKERS"):
        load(KERNELVAULT_WORKRES="3")


def test_an_unknown_name_far_from_all_gets_the_list() -> None:
    """Where no name is near, all are named."""
    with pytest.raises(config.ConfigError, match=r"known are KERNELVAULT_ADDRESS, .*KERNELVAULT_STORE"):
        load(KERNELVAULT_XYZZY="3")


@pytest.mark.parametrize(("name", "text"), [("WORKERS", "many"), ("STRICT", "perhaps"), ("DRAIN_SECONDS", "")])
def test_a_malformed_value_names_the_variable(name: str, text: str) -> None:
    """The message quotes the variable and its value."""
    with pytest.raises(config.ConfigError, match=f"KERNELVAULT_{name}='{text}' is not a valid"):
        load(**{f"KERNELVAULT_{name}": text})


def test_a_required_field_is_asked_for() -> None:
    """A field without a default must be set."""
    with pytest.raises(config.ConfigError, match="set KERNELVAULT_STORE"):
        config.load(Settings, {})


def test_a_folder_that_cannot_be_written_names_its_variable(tmp_path: Path) -> None:
    """A file in its way, too, is no traceback."""
    (tmp_path / "file").write_text("")

    assert config.writable(tmp_path / "new" / "folder", "CACHE_DIR").is_dir()
    with pytest.raises(config.ConfigError, match="Not a directory; set KERNELVAULT_CACHE_DIR"):
        config.writable(tmp_path / "file" / "folder", "CACHE_DIR")
    with pytest.raises(config.ConfigError, match=r"File exists; set KERNELVAULT_CACHE_DIR"):
        config.writable(tmp_path / "file", "CACHE_DIR")
