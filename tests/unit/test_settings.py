"""Settings from a file and the environment."""

from pathlib import Path

import pytest

from evidence_lookup.domain.errors import SettingsError
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.settings import Settings
from evidence_lookup.settings_loading import FILE_NAME, flatten, load_settings

WRONG = """
store = "milvsu"
[rag]
retrieve-k = "20"
retrun-n = 4
l1-enabled = 1
mode = "fuzzy"
evidence-floor = 1.5
[ingest]
include = ["*.md", 3]
[embeder]
kind = "local"
"""


def test_defaults_stand_where_nothing_is_set(tmp_path: Path) -> None:
    """Without a file and variables the settings are the defaults, with data below the folder."""
    settings = load_settings(folder=tmp_path, environment={})
    assert settings == Settings(data_dir=tmp_path / ".evidence-lookup")


def test_every_fault_is_reported_at_once_with_its_place(tmp_path: Path) -> None:
    """A bad file is refused with one line for each fault, and the nearest known key."""
    file = tmp_path / FILE_NAME
    file.write_text(WRONG, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(
            folder=tmp_path,
            environment={"EVIDENCE_LOOKUP_RAG_TOPK": "3", "EVIDENCE_LOOKUP_RAG_TOP_K": "0"},
        )
    assert sorted(caught.value.faults) == sorted(
        [
            f"{file}: store: must be one of milvus, elasticsearch, memory, not 'milvsu'",
            f"{file}: rag.retrieve-k: must be a whole number, not '20'",
            f"{file}: rag.retrun-n: unknown key; did you mean rag.return-n?",
            f"{file}: rag.l1-enabled: must be true or false, not 1",
            f"{file}: rag.mode: must be one of dense, keyword, hybrid, not 'fuzzy'",
            f"{file}: rag.evidence-floor: 'evidence_floor' must be <= 1.0: 1.5",
            f"{file}: ingest.include: must be text, not 3",
            f"{file}: embeder: unknown key; did you mean embedder?",
            "EVIDENCE_LOOKUP_RAG_TOPK: unknown variable; did you mean EVIDENCE_LOOKUP_RAG_TOP_K?",
            "EVIDENCE_LOOKUP_RAG_TOP_K: rag.top-k: 'top_k' must be >= 1: 0",
        ]
    )


def test_a_variable_wins_over_the_file_and_an_override_over_both(tmp_path: Path) -> None:
    """The order of precedence is file, variable, override."""
    (tmp_path / FILE_NAME).write_text(
        "[rag]\nretrieve-k = 10\nreturn-n = 3\nmode = 'dense'\n", encoding="utf-8"
    )
    settings = load_settings(
        folder=tmp_path,
        environment={"EVIDENCE_LOOKUP_RAG_RETRIEVE_K": "11", "EVIDENCE_LOOKUP_RAG_MODE": "keyword"},
        overrides={"rag.mode": "hybrid"},
    )
    assert (settings.rag.retrieve_k, settings.rag.return_n) == (11, 3)
    assert settings.rag.mode is SearchMode.HYBRID


def test_a_given_default_stands_below_file_variables_and_overrides(tmp_path: Path) -> None:
    """It takes the place of the built-in one, and of nothing that somebody set."""
    defaults = {"data-dir": tmp_path / "given", "rag.return-n": 7}
    settings = load_settings(folder=tmp_path, environment={}, defaults=defaults)
    assert (settings.data_dir, settings.rag.return_n) == (tmp_path / "given", 7)
    (tmp_path / FILE_NAME).write_text('data-dir = "set"\n', encoding="utf-8")
    environment = {"EVIDENCE_LOOKUP_RAG_RETURN_N": "8"}
    settings = load_settings(folder=tmp_path, environment=environment, defaults=defaults)
    assert (settings.data_dir, settings.rag.return_n) == (tmp_path / "set", 8)


def test_R10_a_legacy_top_k_stands_in_for_both_and_an_explicit_key_wins(tmp_path: Path) -> None:
    """What is in force is in the settings, and so in `config show`."""

    def in_force(text: str) -> tuple[object, object]:
        (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
        flat = flatten(load_settings(folder=tmp_path, environment={}))
        return flat["rag.retrieve-k"], flat["rag.return-n"]

    assert in_force("") == (20, 5)
    assert in_force("[rag]\ntop-k = 7\n") == (7, 7)
    assert in_force("[rag]\ntop-k = 7\nreturn-n = 3\n") == (7, 3)


def test_variables_are_read_as_what_they_set(tmp_path: Path) -> None:
    """Numbers, booleans, lists, paths and unset values come out of their texts."""
    settings = load_settings(
        folder=tmp_path,
        environment={
            "EVIDENCE_LOOKUP_DATA_DIR": "elsewhere",
            "EVIDENCE_LOOKUP_RAG_L1_ENABLED": "false",
            "EVIDENCE_LOOKUP_RAG_EVIDENCE_FLOOR": "0.5",
            "EVIDENCE_LOOKUP_RAG_HIGH_THRESHOLD": "",
            "EVIDENCE_LOOKUP_INGEST_EXCLUDE": "drafts/, *.tmp.md",
            "EVIDENCE_LOOKUP_MILVUS_TOKEN": "12345",
        },
    )
    assert settings.data_dir == tmp_path / "elsewhere"
    assert settings.rag.l1_enabled is False
    assert settings.rag.evidence_floor == 0.5
    assert settings.rag.high_threshold is None
    assert settings.ingest.exclude == ("drafts/", "*.tmp.md")
    assert settings.milvus.token == "12345"


def test_the_data_folder_has_one_name(tmp_path: Path) -> None:
    """A way up in the path is resolved, since a backend compares names to find what it opened."""
    settings = load_settings(
        folder=tmp_path / "inner", environment={"EVIDENCE_LOOKUP_DATA_DIR": "../data"}
    )
    assert settings.data_dir == tmp_path / "data"


def test_the_file_that_a_variable_names_is_read(tmp_path: Path) -> None:
    """``EVIDENCE_LOOKUP_CONFIG`` names the file; one that is not there is a fault."""
    (tmp_path / "other.toml").write_text("[rag]\nreturn-n = 9\n", encoding="utf-8")
    environment = {"EVIDENCE_LOOKUP_CONFIG": "other.toml"}
    assert load_settings(folder=tmp_path, environment=environment).rag.return_n == 9
    with pytest.raises(SettingsError, match=r"missing\.toml: cannot be read"):
        load_settings(folder=tmp_path, environment={"EVIDENCE_LOOKUP_CONFIG": "missing.toml"})


def test_a_file_that_is_no_toml_is_refused_with_its_place(tmp_path: Path) -> None:
    """A syntax error names the file and the line."""
    (tmp_path / FILE_NAME).write_text("[rag\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"is not TOML: .*line 1"):
        load_settings(folder=tmp_path, environment={})


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    """Tokens and keys are neither in the flat view nor in the repr."""
    settings = load_settings(
        folder=tmp_path,
        environment={
            "EVIDENCE_LOOKUP_MILVUS_TOKEN": "s3cret",
            "EVIDENCE_LOOKUP_EMBEDDER_API_KEY": "s3cret",
        },
    )
    assert flatten(settings)["milvus.token"] == "***"
    assert flatten(settings)["embedder.api-key"] == "***"
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(flatten(settings))


def test_settings_that_do_not_go_together_are_faults_with_their_places(tmp_path: Path) -> None:
    """What only two settings make wrong is told for each section, with where they stand."""
    file = tmp_path / FILE_NAME
    file.write_text("[elasticsearch]\nusername = 'ann'\n", encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(folder=tmp_path, environment={"EVIDENCE_LOOKUP_ELASTICSEARCH_API_KEY": "k"})
    (fault,) = caught.value.faults
    assert str(file) in fault
    assert "EVIDENCE_LOOKUP_ELASTICSEARCH_API_KEY: elasticsearch.api-key" in fault


def test_a_secret_that_does_not_fit_is_not_shown(tmp_path: Path) -> None:
    """The message for a password that is no text names its key, and leaves the value out."""
    (tmp_path / FILE_NAME).write_text(
        "[elasticsearch]\npassword = 83921744\n[milvus]\ntoken = 83921744\n", encoding="utf-8"
    )
    with pytest.raises(SettingsError) as caught:
        load_settings(folder=tmp_path, environment={})
    assert len(caught.value.faults) == 2
    assert "83921744" not in str(caught.value)


@pytest.mark.parametrize("name", ["vectorstore", "spring-ai"])
def test_R28_the_vector_store_mode_has_two_names(name: str, tmp_path: Path) -> None:
    """``spring-ai`` is another name for ``vectorstore``."""
    settings = load_settings(
        folder=tmp_path, environment={"EVIDENCE_LOOKUP_VECTOR_STORE_MODE": name}
    )
    assert settings.vector_store.mode == "vectorstore"
