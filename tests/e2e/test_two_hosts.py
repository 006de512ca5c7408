"""One run on two hosts, through pytest-xdist's gateways."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import execnet
import pytest

from tests.project import Project

SECOND = "a-second-host"
# A namespace of its own gives a process another host name, where the system lets anybody make one.
IN_A_NAMESPACE = ("unshare", "--user", "--map-root-user", "--uts")


def _refused() -> str | None:
    if shutil.which("unshare") is None:
        return "there is no unshare command"
    done = subprocess.run([*IN_A_NAMESPACE, "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


@pytest.fixture
def second_host(project: Project) -> Iterator[str]:
    """A gateway for xdist on another host, as far as host names go."""
    if reason := _refused():
        pytest.skip(f"no second host can be made here: {reason}")
    port = _free_port()
    server = Path(execnet.__file__).parent / "script" / "socketserver.py"
    serve = f'hostname {SECOND}; exec "$0" "$1" 127.0.0.1:{port}'
    command = [*IN_A_NAMESPACE, "sh", "-c", serve, sys.executable, str(server)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with subprocess.Popen(command, cwd=project.path, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield f"socket=127.0.0.1:{port}//chdir={project.path / 'second'}"
        process.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def test_each_record_names_its_host_and_environment(project: Project, second_host: str) -> None:
    """One report comes out, in which the rows of the two hosts are told apart."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB", isolate=True)
        def test_it():
            pass
    """)
    (project.path / "second").mkdir()

    run = project.measure(
        *("--dist=each", "--tx=popen", f"--tx={second_host}", f"--rsyncdir={project.path / 'test_it.py'}"),
        *("-W", "ignore:The --rsyncdir:DeprecationWarning", "--membudget-report"),
        plugins=("xdist.plugin",),
    )

    assert run.last_line.startswith("2 passed")
    places = {(test["worker"], test["host"], test["environment"]) for test in run.document["tests"]}
    key = f"cpython-{sysconfig.get_python_version()}-{platform.system().lower()}-{platform.machine().lower()}"
    assert places == {("gw0", platform.node(), key), ("gw1", SECOND, key)}
    assert f"gw0 on {platform.node()}: {key}" in run.section
    assert f"gw1 on {SECOND}: {key}" in run.section
    assert all(test["isolated"] for test in run.document["tests"])
