"""Real servers in containers, with the faults that a test may put them through.

An image's name comes from the environment; without one, the image that docker/build.sh makes is
taken if it is there, or else the official one. A server that cannot be had is a skip that says why,
or a failure under EVIDENCE_LOOKUP_TEST_REQUIRE_SERVERS=1; one that does not work is a failure.
"""

import os
import random
import socket
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from typing import Any, NoReturn

import pytest
from attrs import field, frozen

# testcontainers reads these when it is imported. Inside a container it would hand out the address
# of a gateway; its reaper is one more image, which may not be had.
os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")

_PREFIX = "EVIDENCE_LOOKUP_TEST_"
_PAUSES = 5
# Below those that the kernel hands out: no connection of another process takes one over while the
# server is down.
_PORTS = range(20_000, 32_000)
# Of this run alone, so that whoever cleans up after it ends nobody else's.
LABELS = {"evidence-lookup-test": os.environ.get("EVIDENCE_LOOKUP_TEST_RUN", "")}
"""On all that a test makes in the engine, so that what is left over can be found."""


@frozen
class ServerKind:
    """A kind of server: its images, how to start one, and how to see that it answers.

    `address` holds ``{port}``; `answers` takes an address and raises while the server does not.
    `tmpfs` are folders of its own in memory, with their mount options.
    """

    name: str
    own_image: str
    official_image: str
    port: int
    address: str
    answers: Callable[[str], object]
    environment: Mapping[str, str] = field(factory=dict[str, str])
    command: str = ""
    address_variable: str = "URL"
    tmpfs: Mapping[str, str] = field(factory=dict[str, str])

    @property
    def image_variable(self) -> str:
        """The environment variable that names another image."""
        return f"{_PREFIX}{self.name.upper()}_IMAGE"

    @property
    def running_variable(self) -> str:
        """The environment variable with the address of a server that runs already."""
        return f"{_PREFIX}{self.name.upper()}_{self.address_variable}"


class Server:
    """A server at `url`; unless it runs elsewhere, in a container that takes faults.

    Its port is fixed, since a random one changes with each restart and reconnection. After each
    fault it answers again.
    """

    def __init__(
        self, kind: ServerKind, url: str, container: Any = None, network: Any = None
    ) -> None:
        self.kind, self.url = kind, url
        self._container, self._network = container, network

    def kill(self) -> None:
        """End it at once, as a power cut does; its data stay."""
        self._own_container().kill()
        self._own_container().wait(timeout=30)

    def restart(self) -> float:
        """Start it after `kill` and wait until it answers; how many seconds that took."""
        self._own_container().start()
        return self.wait_until_it_answers()

    def run(self, *command: str) -> tuple[int, str]:
        """The exit code and the output of *command*, run inside."""
        code, output = self._own_container().exec_run(list(command))
        return code, output.decode()

    @contextmanager
    def down(self) -> Generator[None, None, None]:
        """Inside, it is dead: connections are refused."""
        self.kill()
        try:
            yield
        finally:
            self.restart()

    def paused(self) -> AbstractContextManager[None]:
        """Inside, it is frozen: connections are accepted, and nothing is answered."""
        container = self._own_container()

        def pause() -> None:
            # A busy machine starts threads faster than they are frozen; the engine then gives up.
            for _ in range(_PAUSES):
                with suppress(_engine_errors().APIError):
                    container.pause()
                    return
            container.pause()

        return self._without(pause, container.unpause)

    def disconnected(self) -> AbstractContextManager[None]:
        """Inside, it runs, but is cut from the network."""
        container = self._own_container()
        return self._without(
            lambda: self._network.disconnect(container), lambda: self._network.connect(container)
        )

    def wait_until_it_answers(self, seconds: float = 120) -> float:
        """Return how many seconds that took.

        Raises:
            TimeoutError: it did not answer within *seconds*; with the end of its log.
        """
        started = time.monotonic()
        while True:
            try:
                self.kind.answers(self.url)
                return time.monotonic() - started
            except Exception as error:
                if time.monotonic() - started > seconds:
                    log = self._container and self._container.logs(tail=40).decode()
                    raise TimeoutError(f"{self.url} does not answer: {log}") from error
                time.sleep(0.1)

    @contextmanager
    def _without(
        self, begin: Callable[[], object], end: Callable[[], object]
    ) -> Generator[None, None, None]:
        begin()
        try:
            yield
        finally:
            end()
            self.wait_until_it_answers()

    def _own_container(self) -> Any:
        if self._container is None:
            pytest.skip(f"{self.kind.running_variable} names a server that takes no faults")
        return self._container


def running_elsewhere(kind: ServerKind) -> Server | None:
    """The server that the environment names."""
    url = os.environ.get(kind.running_variable)
    return Server(kind, url) if url else None


@contextmanager
def started(kind: ServerKind, client: Any, network: Any) -> Generator[Server, None, None]:
    """A server of its own in a container, removed with its data afterwards."""
    from testcontainers.core.container import DockerContainer

    image = _image(kind, client)
    port = _free_port()
    container = DockerContainer(image).with_network(network).with_envs(**kind.environment)
    if kind.command:
        container.with_command(kind.command)
    container.with_kwargs(labels=LABELS)
    container.tmpfs.update(kind.tmpfs)
    bindings: Any = container.ports
    bindings[f"{kind.port}/tcp"] = ("127.0.0.1", port)
    try:
        container.start()
        server = Server(
            kind,
            kind.address.format(port=port),
            container.get_wrapped_container(),
            network._unwrap_network,
        )
        server.wait_until_it_answers()
        yield server
    finally:
        container.stop()


def engine() -> Any:
    """A client of the Docker engine."""
    docker: Any = import_module("docker")
    try:
        client = docker.from_env(timeout=60)
        client.ping()
    except _engine_errors().DockerException as error:
        cannot_be_had(f"no Docker engine answers: {error}")
    return client


def cannot_be_had(reason: str) -> NoReturn:
    """Skip, or fail where the environment asks for servers."""
    if os.environ.get(f"{_PREFIX}REQUIRE_SERVERS") == "1":
        pytest.fail(f"{reason} ({_PREFIX}REQUIRE_SERVERS=1)", pytrace=False)
    pytest.skip(reason)


def _free_port() -> int:
    # By chance, so that two workers that look at once hardly meet.
    for port in random.sample(_PORTS, 50):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"of 50 ports in {_PORTS} none is free")


def _engine_errors() -> Any:
    return import_module("docker.errors")


def _image(kind: ServerKind, client: Any) -> str:
    errors = _engine_errors()
    named = os.environ.get(kind.image_variable)
    candidates = [named] if named else [kind.own_image, kind.official_image]
    for candidate in candidates:
        with suppress(errors.ImageNotFound):
            client.images.get(candidate)
            return candidate
    wanted = candidates[-1]
    try:
        client.images.pull(wanted)
    except errors.APIError as error:
        cannot_be_had(
            f"the image {wanted} is neither here nor to be pulled (docker/build.sh makes one, "
            f"{kind.image_variable} names another): {error.explanation}"
        )
    return wanted
