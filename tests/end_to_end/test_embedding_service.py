"""The command with an embedding service, and with that service down."""

import json
from pathlib import Path

from tests.embedding_server import EmbeddingServer
from tests.end_to_end.command import run


def test_an_embedding_service_is_used_as_the_settings_say(tmp_path: Path) -> None:
    """Documents and questions go to the service under its model's name; down, it is said so."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "kettle.md").write_text("# Kettle\n\nThe kettle is descaled with vinegar.\n")
    (docs / "bread.md").write_text("# Bread\n\nThe bread rises for two hours.\n")
    with EmbeddingServer() as server:
        (tmp_path / "evidence-lookup.toml").write_text(
            "[embedder]\n"
            'kind = "openai"\nmodel = "fake"\ndimensions = 64\nmax-retries = 0\n'
            f'base-url = "{server.url}"\n'
        )
        key = {"EVIDENCE_LOOKUP_EMBEDDER_API_KEY": "s3cret"}
        run("ingest", docs, folder=tmp_path, variables=key)
        asked = ("lookup", "how is the kettle descaled?", "--json")
        result = json.loads(run(*asked, folder=tmp_path, variables=key).stdout)
        assert result["evidence_blocks"][0]["evidence_key"] == "kettle.md#chunk-0"
        assert set(server.keys) == {"Bearer s3cret"}
        assert {body["model"] for body in server.requests} == {"fake"}
    down = run("lookup", "kettle", folder=tmp_path, variables=key, code=3)
    assert len(down.stderr.strip().splitlines()) == 1
    assert "embedder.base-url" in down.stderr
    assert "s3cret" not in down.stderr
    agent = run("lookup", "kettle", "--agent", folder=tmp_path, variables=key, code=3)
    assert json.loads(agent.stdout)["evidence_status"] == "unavailable"
