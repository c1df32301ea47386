"""Tasks on executors, and workers that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import psutil
import pytest

from nbkit.batch.workers import LocalProcesses, Task, run_on_executor


class AtOnce(Executor):
    """The simplest executor there can be: does everything when it is submitted."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - what an executor is for
            future.set_exception(error)
        return future


@pytest.mark.parametrize("make", [AtOnce, lambda: ThreadPoolExecutor(3)], ids=["own", "threads"])
def test_any_executor_will_do(make):
    with make() as executor:
        tasks = [Task("2", pow, (2, 3)), Task("x", int, ("x",)), Task("3", pow, (3, 2))]
        done = list(run_on_executor(executor, tasks))
    assert sorted((d.task.label, d.value) for d in done if d.error is None) == [("2", 8), ("3", 9)]
    (failed,) = (d.error for d in done if d.error is not None)
    assert failed.name == "ValueError" and "int(" in failed.details and str(failed).startswith("ValueError: invalid")


def test_workers_get_their_environment_and_are_reused():
    with LocalProcesses(2, {"TOY": "yes"}) as run:
        first = list(run([Task(str(i), os.getenv, ("TOY",)) for i in range(6)]))
        pids = {done.value for _ in range(3) for done in run([Task(str(i), os.getpid, ()) for i in range(4)])}
    assert [done.value for done in first] == ["yes"] * 6 and len(pids) <= 2
    assert "TOY" not in os.environ and not any(psutil.pid_exists(pid) for pid in pids)


def test_progress_bars_of_a_worker_share_no_semaphore():
    """A killed worker would leave it behind, with a warning at the end of the run."""
    source = "import tqdm\nassert not hasattr(tqdm.tqdm.get_lock(), 'mp_lock')"
    with LocalProcesses(1, {}) as run:
        (done,) = run([Task("x", exec, (source, {}))])
    assert done.error is None


def test_a_worker_that_is_stopped_while_it_ends_prints_nothing(capfd):
    source = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGTERM)"
    with LocalProcesses(1, {}) as run:
        (done,) = run([Task("x", exec, (source, {}))])
    assert done.error is None and "SystemExit" not in capfd.readouterr().err


def test_an_error_that_cannot_be_pickled_comes_back_as_text():
    source = "class E(Exception):\n def __init__(self, a, b): super().__init__('a b')\nraise E(1, 2)"
    with LocalProcesses(1, {}) as run:
        (done,) = run([Task("x", exec, (source, {}))])
        (after,) = run([Task("y", pow, (2, 2))])
    assert str(done.error) == "E: a b" and after.value == 4


def test_a_killed_worker_fails_its_task_and_no_other():
    die = Task("die", exec, ("import os, time; time.sleep(0.3); os.kill(os.getpid(), 9)",))
    tasks = [Task(str(i), pow, (i, 2)) for i in range(4)] + [die] + [Task(str(i), pow, (i, 2)) for i in range(4, 9)]
    with LocalProcesses(2, {}) as run:
        done = {d.task.label: d for d in run(tasks)}
    assert {label: d.value for label, d in done.items() if d.error is None} == {str(i): i * i for i in range(9)}
    assert done["die"].error is not None and done["die"].error.name == "WorkerKilled"


def test_a_task_that_was_only_beside_a_killed_one_is_done(tmp_path):
    once = "import os, sys; os.path.exists({0!r}) or (open({0!r}, 'w'), os.kill(os.getpid(), 9))"
    with LocalProcesses(1, {}) as run:
        (done,) = run([Task("second try", exec, (once.format(str(tmp_path / "tried")),))])
    assert done.error is None


@pytest.mark.thorough
def test_a_killed_task_is_tried_again_with_no_other_beside_it(tmp_path):
    """Where memory ran out, what ran beside it may have been to blame."""
    flag = repr(str(tmp_path / "at work"))
    other = f"import os, time; open({flag}, 'w').close(); time.sleep(1); os.remove({flag})"
    needy = f"import os, time; time.sleep(0.5); os.path.exists({flag}) and os.kill(os.getpid(), 9)"
    with LocalProcesses(2, {}) as run:
        done = list(run([Task("other", exec, (other,)), Task("needy", exec, (needy,))]))
    assert [(each.task.label, each.error) for each in done] == [("other", None), ("needy", None)]


def test_a_worker_that_is_killed_while_it_waits_is_replaced():
    with LocalProcesses(1, {}) as run:
        (before,) = run([Task("x", os.getpid, ())])
        psutil.Process(before.value).kill()
        (after,) = run([Task("y", os.getpid, ())])
    assert after.error is None and after.value != before.value


# A shell that starts the tests in the background has SIGINT ignored, and children inherit that.
ORPHANS = """
import signal
from nbkit.batch.workers import LocalProcesses, Task

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with LocalProcesses(2, {}) as run:
        source = "import os, time; os.write(1, str(os.getpid()).encode() + bytes([10])); time.sleep(600)"
        list(run([Task(str(i), exec, (source,)) for i in range(2)]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_workers_end_with_their_parent(tmp_path, how):
    import signal

    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    workers = [psutil.Process(int(parent.stdout.readline())) for _ in range(2)]
    parent.send_signal(signal.Signals[how])
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == [] and parent.wait(20) != 0
    parent.communicate()


SCARCE = """
import resource
from nbkit.batch.workers import LocalProcesses, Task

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (2_500_000 << 10,) * 2)  # ulimit -v 2500000
    with LocalProcesses(2, {}) as run:
        for done in run([Task("greedy", bytearray, (3 << 30,)), *(Task(str(i), pow, (i, 2)) for i in range(4))]):
            print(done.task.label, done.error or done.value)
"""


def test_a_task_that_is_out_of_memory_fails_and_says_so(tmp_path):
    script = tmp_path / "scarce.py"
    script.write_text(SCARCE)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    *others, greedy = sorted(done.stdout.splitlines())
    assert others == ["0 0", "1 1", "2 4", "3 9"] and greedy.startswith("greedy MemoryError: memory ran out: use fewer")
    assert done.returncode == 0, done.stderr
