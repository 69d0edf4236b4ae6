"""Ten questions on public Prometheus and Kubernetes runbooks, where these are at hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence_lookup import Settings, SyncKnowledgeBase, open_knowledge_base_sync

RUNBOOKS = Path(__file__).parents[3] / "shared" / "data" / "runbooks"

# The question, the right page, and the worst rank at which its document may come.
QUESTIONS = (
    ("pods keep restarting over and over", "kubernetes/KubePodCrashLooping", 2),
    ("a filesystem will run out of space within hours", "node/NodeFilesystemSpaceFillingUp", 3),
    ("etcd has lost its leader", "etcd/etcdNoLeader", 2),
    ("the clock of a server runs apart from NTP", "node/NodeClockSkewDetected", 2),
    (
        "Prometheus cannot deliver alerts any more",
        "prometheus/PrometheusErrorSendingAlertsToAnyAlertmanager",
        4,
    ),
    (
        "a new version of a stateful set does not get rolled out",
        "kubernetes/KubeStatefulSetUpdateNotRolledOut",
        2,
    ),
    ("the horizontal autoscaler cannot add more replicas", "kubernetes/KubeHpaMaxedOut", 2),
    ("节点上的文件描述符快用完了", "node/NodeFileDescriptorLimit", 2),
    ("持久卷快要写满了怎么办", "kubernetes/KubePersistentVolumeFillingUp", 2),
    ("Prometheus 配置文件重新加载失败", "prometheus/PrometheusBadConfig", 3),
)


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncKnowledgeBase]:
    """A knowledge base that holds the runbooks."""
    if not RUNBOOKS.is_dir():
        pytest.skip("the public runbooks are not beside this checkout")
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"))
    with open_knowledge_base_sync(settings) as knowledge:
        report = knowledge.ingest(RUNBOOKS)
        assert len(report.added) >= 109
        yield knowledge


@pytest.mark.parametrize(("question", "page", "worst"), QUESTIONS)
def test_the_right_page_is_found(
    question: str, page: str, worst: int, knowledge: SyncKnowledgeBase
) -> None:
    """The page that a person on call would want is among the first documents of the evidence."""
    result = knowledge.lookup(question)
    documents = list(dict.fromkeys(block.source for block in result.evidence_blocks))
    assert result.evidence_status == "found"
    assert f"{page}.md" in documents[:worst], documents


def test_a_question_of_another_world_is_not_found(knowledge: SyncKnowledgeBase) -> None:
    """What no runbook knows is not "found"."""
    for question in ("which wine goes with grilled trout?", "怎样给小提琴调音？"):
        assert knowledge.lookup(question).evidence_status in ("no_evidence", "low_relevance")
