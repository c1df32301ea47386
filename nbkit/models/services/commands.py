"""Programs as translators: ``command:apertium -u {src3}-{tgt3}``, a program that reads lines and writes lines.

One text is one line in and one line out, in UTF-8. No shell is involved: the words of the command are the program and
its arguments, and texts go to its standard input. Only `Program` starts anything, and only if commands are allowed
(`allow_commands`).

Many programs carry context over from line to line. By default every text has its own process. ``isolate: batch``
gives one process many texts, and is checked: a text must be translated alike alone and in another order.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self
from weakref import WeakSet

from nbkit.errors import ModelError, closest
from nbkit.files import file_digest, public_environment
from nbkit.languages import three_letter_code
from nbkit.models.model import Decoding
from nbkit.models.services.asking import Answer, RemoteTranslator, line_of
from nbkit.models.services.names import Pacing, RemoteModel
from nbkit.progress import progress_bar

#: The environment variable that says whether programs may be started: "deny" where a run file was not trusted with it.
VARIABLE = "NBKIT_COMMANDS"
#: What a mapping in a run file may hold.
_FIELDS = {
    "command": list,
    "isolate": str,
    "workers": int,
    "version": str,
    "timeout": float,
    "label": str,
}
_NOUNS = {list: "a list of words", str: "text", int: "a whole number", float: "a number"}
_ISOLATE = ("text", "batch")
#: Texts that one process translates, where it is given several; answers are stored once they are checked.
BATCH = 256
#: Texts of the first batch, and of each later one of that size, that are translated alone as well.
_FIRST_SAMPLE, _LATER_SAMPLE = 16, 2
#: Bytes that a program may write per text; one that writes more has gone astray.
_MOST_OUTPUT = 1_000_000
#: Seconds that are left for the end of a program that has closed its output, and for pipes that its children hold open.
_GRACE = 2.0
_LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


def allow_commands(allowed: bool = True) -> None:
    """Say for this process and those that it starts whether `command:` systems may be started.

    In Python they may be unless this was called; the command line denies them unless they were asked for.
    """
    os.environ[VARIABLE] = "allow" if allowed else "deny"


def commands_allowed() -> bool:
    """Whether programs may be started here."""
    return os.environ.get(VARIABLE) != "deny"


@dataclass(frozen=True)
class CommandModel(RemoteModel):
    """``command:PROGRAM ARGUMENT …``, or ``command:{"command": […], …}`` (JSON, of a run file's mapping).

    In the words ``{src}``, ``{tgt}`` (language codes) and ``{src3}``, ``{tgt3}`` (ISO 639-3) are filled in.
    isolate: "text", a process per text, or "batch". workers: concurrent processes. version: part of the identity;
    change it when something changes that nbkit cannot see (data of the program, a service behind it). timeout: seconds
    per text. label: name in figures, by default that of the program.

    >>> model = CommandModel.parsed("command:apertium -u {src3}-{tgt3}").for_pair("en", "es")
    >>> model.words, model.label
    (('apertium', '-u', 'eng-spa'), 'apertium')
    >>> CommandModel.parsed('command:{"command": ["rev"], "isolate": "batch", "version": "2"}').isolate
    'batch'
    """

    words: tuple[str, ...]
    isolate: str = "text"
    version: str = ""
    called: str = ""

    prefix: ClassVar[str] = "command:"
    client: ClassVar[str] = "nbkit.models.services.commands:CommandTranslator"
    plain: ClassVar[bool] = True
    requested: ClassVar[bool] = False

    @classmethod
    def parsed(cls, name: str) -> Self:
        """Raises `ModelError` for a command without a program, and for an option that does not exist."""
        written = name.removeprefix(cls.prefix).strip()
        if written.startswith("{") and '"' in written:
            try:
                options = json.loads(written)
            except ValueError as error:
                raise ModelError(f"model '{name:.120}': not JSON: {error}") from None
        else:
            try:
                options = {"command": shlex.split(written)}
            except ValueError as error:
                raise ModelError(f"model '{name:.120}': {error}; quote words as a shell does") from None
        return cls.of(name, options)

    @classmethod
    def of(cls, name: str, options: Mapping[str, Any]) -> Self:
        """The model of a run file's mapping. Raises `ModelError` naming the option that is wrong."""
        for option, value in options.items():
            if option not in _FIELDS:
                guess = closest(option, _FIELDS)
                hint = f"; did you mean '{guess}'?" if guess else "."
                raise ModelError(
                    f"model '{name:.120}': unknown option '{option}'{hint} There are: {', '.join(_FIELDS)}"
                )
            kind = _FIELDS[option]
            fits = isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
            if not fits:
                raise ModelError(f"model '{name:.120}': {option}: {value!r:.60} given, expected {_NOUNS[kind]}")
        words = options.get("command", [])
        if not words or not all(isinstance(word, str) and word and "\0" not in word for word in words):
            raise ModelError(f"model '{name:.120}': no program; write command:PROGRAM ARGUMENT …")
        isolate = options.get("isolate", "text")
        if isolate not in _ISOLATE:
            raise ModelError(f"model '{name:.120}': isolate: '{isolate}' given, one of {', '.join(_ISOLATE)} expected")
        workers = options.get("workers") or os.cpu_count() or 1
        try:
            pacing = Pacing(concurrency=workers, timeout=float(options.get("timeout", 60.0)), attempts=1)
        except ModelError as error:
            raise ModelError(f"model '{name:.120}': {error}") from None
        version = str(options.get("version", ""))
        return cls(name, pacing, tuple(words), isolate, version, options.get("label", ""))

    def for_pair(self, src: str, tgt: str) -> Self:
        """The command with its languages filled in; other braces stay as they are."""
        values = {"src": src, "tgt": tgt}
        if any("3}" in word for word in self.words):
            values |= {"src3": three_letter_code(src), "tgt3": three_letter_code(tgt)}
        filled = tuple(re.sub(r"\{(src3?|tgt3?)\}", lambda found: values[found[1]], word) for word in self.words)
        return replace(self, words=filled)

    @property
    def label(self) -> str:
        return self.called or Path(self.words[0]).name

    @property
    def shown(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.words)

    @cached_property
    def program(self) -> Path | None:
        """The program's file, None if there is none."""
        found = shutil.which(self.words[0])
        return None if found is None else Path(found).resolve()

    @property
    def shard(self) -> int:
        """More for a process that is given many texts: it may take long to start."""
        return super().shard if self.isolate == "text" else 4 * BATCH

    def identity(self) -> dict[str, Any]:
        """The command, its version, and the digests of its program and of files that its words name."""
        files = {word: Path(word) for word in self.words[1:] if Path(word).is_file()}
        digests = {word: file_digest(path) for word, path in files.items()}
        program = None if self.program is None else file_digest(self.program)
        return {
            "backend": "command", "command": list(self.words), "version": self.version,
            "program": program, "files": digests, "isolate": self.isolate,
            "stay": False,  # a field of answers stored by earlier versions, which are still found
        }  # fmt: skip

    def problem(self, src: str, tgt: str) -> str | None:
        if self.program is None:
            return (
                f"model '{self.name:.120}': no program '{self.words[0]}'; install it, or give its path "
                "(relative to the folder that nbkit is started in)"
            )
        return None

    def remark(self, src: str, tgt: str) -> str:
        """The command, its version, and which changes are noticed."""
        files = [self.words[0], *(word for word in self.words[1:] if Path(word).is_file())]
        return (
            f"{self.shown}; version: {self.version or 'not given'}; noticed is a change of the command, its version or "
            f"{' or '.join(f'the file {file}' for file in files)}, but not of anything else that it uses"
        )


@dataclass(eq=False)
class Program:
    """One process of a command.

    >>> program = Program(CommandModel.parsed("command:tr a-z A-Z"))
    >>> program.lines(["one", "two"])
    ['ONE', 'TWO']
    """

    model: CommandModel
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _errors: bytearray = field(default_factory=bytearray, repr=False)
    _read: bytearray = field(default_factory=bytearray, repr=False)

    def _start(self) -> subprocess.Popen[bytes]:
        if not commands_allowed():
            raise ModelError(
                f"model '{self.model.label}' would start the program: {self.model.shown}; "
                "to allow this, give --allow-commands"
            )
        self._errors, self._read = bytearray(), bytearray()
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self.model.words, stdin=pipe, stdout=pipe, stderr=pipe, env=public_environment(), start_new_session=True
            )
        except OSError as error:
            raise ModelError(f"program '{self.model.shown:.120}' cannot be started: {error}") from None

    def lines(self, texts: Sequence[str]) -> list[str]:
        """The line that a new process writes for each text. Raises `ModelError` unless there is one line each."""
        process = self._process = self._start()
        try:
            data = b"".join(self._encoded(text) for text in texts)
            self._exchange(data, len(texts), self.model.pacing.timeout * max(1, len(texts)))
            code = process.wait(timeout=_GRACE) if process.poll() is None else process.returncode
            written = self._lines_of(bytes(self._read))
            if code:
                killed = f" ({signal.Signals(-code).name})" if -code in set(signal.Signals) else ""
                raise self._error(f"ended with exit code {code}{killed} after {len(written)} of {len(texts)} lines")
            if len(written) != len(texts):
                raise self._error(f"wrote {_counted(len(written), 'line')} for {_counted(len(texts), 'text')}")
            return written
        except subprocess.TimeoutExpired:
            raise self._error("closed its output and did not end") from None
        finally:
            self.close()

    def _encoded(self, text: str) -> bytes:
        try:
            return _LINE_BREAKS.sub(" ", text).encode("utf-8") + b"\n"
        except UnicodeEncodeError:
            raise ModelError(f"program '{self.model.shown:.120}': {text!r:.60} is not valid Unicode") from None

    def _exchange(self, data: bytes, lines: int, timeout: float) -> None:
        """Write *data*, for *lines* lines, and read until the output ends; neither side waits."""
        process = self._process
        assert process is not None and process.stdin and process.stdout and process.stderr
        deadline, ended = time.monotonic() + timeout, None
        most, sent = _MOST_OUTPUT * max(1, lines), 0
        os.set_blocking(process.stdin.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdin, selectors.EVENT_WRITE)
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while True:
                if process.stdout not in (key.fileobj for key in selector.get_map().values()):
                    return
                now = time.monotonic()
                if process.poll() is not None and ended is None:
                    ended = now + _GRACE  # children of it may hold its pipes open
                if ended is not None and now > ended:
                    return
                if now > deadline:
                    got = self._read.count(b"\n")
                    raise self._error(f"wrote {got} of {lines} lines in {timeout:.0f} s and did not end")
                for key, _ in selector.select(min(0.5, max(0.0, deadline - now))):
                    if key.fileobj is process.stdin:
                        sent = self._send(selector, data, sent)
                        continue
                    chunk = os.read(key.fd, 65536)
                    if not chunk:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stdout:
                        self._read += chunk
                        if len(self._read) > most:
                            raise self._error(f"wrote more than {most:,} bytes for {_counted(lines, 'text')}")
                    else:
                        self._errors = (self._errors + chunk)[-4000:]

    def _send(self, selector: selectors.BaseSelector, data: bytes, sent: int) -> int:
        assert self._process is not None and self._process.stdin is not None
        stdin = self._process.stdin
        try:
            sent += os.write(stdin.fileno(), data[sent : sent + 65536])
        except BlockingIOError:
            return sent
        except BrokenPipeError:
            sent = len(data)  # it reads no more; what it wrote decides
        if sent >= len(data):
            selector.unregister(stdin)
            stdin.close()
        return sent

    def _lines_of(self, data: bytes) -> list[str]:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._error(f"wrote bytes that are not UTF-8: {data[error.start : error.start + 12]!r}") from None
        lines = text.split("\n")
        if lines[-1] == "":  # a missing last line break is forgiven
            lines.pop()
        return [line.removesuffix("\r") for line in lines]

    def _error(self, what: str) -> ModelError:
        lines = bytes(self._errors).decode("utf-8", "replace").strip().splitlines()
        shown = lines if len(lines) < 5 else [lines[0], "…", *lines[-3:]]  # what is wrong, or what to do, comes first
        last_lines = f"; it says: {' / '.join(line.strip()[:200] for line in shown)}" if shown else ""
        return ModelError(f"program '{self.model.shown:.120}' {what}{last_lines}")

    def kill(self) -> None:
        """End the process and all that it started, whoever reads from it: that is an error there."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and all that it started."""
        self.kill()
        process, self._process = self._process, None
        if process is None:
            return
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


class CommandTranslator(RemoteTranslator):
    """Asks a program."""

    model: CommandModel

    def __init__(self, model: CommandModel):
        super().__init__(model)
        self._checked = False
        self._programs: WeakSet[Program] = WeakSet()  # those at work

    def ask(self, text: str, src: str, tgt: str, decoding: Decoding) -> Answer:
        """One process for one text."""
        return Answer(Program(self.model).lines([text])[0])

    def answers(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding, *, progress: bool = True
    ) -> Iterator[tuple[str, Answer]]:
        """See `RemoteTranslator.answers`; several texts go to one process where the command says so."""
        if self.model.isolate == "text":
            yield from super().answers(texts, src, tgt, decoding, progress=progress)
            return
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        batches = [wanted[i : i + BATCH] for i in range(0, len(wanted), BATCH)]
        pool = ThreadPoolExecutor(self.model.pacing.concurrency, thread_name_prefix="nbkit-command")
        try:
            with progress_bar(f"{self.model.label} {src}→{tgt}", len(wanted), progress) as bar:
                for some in (batches[:1], batches[1:]):  # the first batch is checked before another one begins
                    for found in pool.map(self._checked_batch, some):
                        for text, line in found.items():
                            answer = Answer(line)
                            self.usage.add(text, answer, line_of(self.model, answer, text, src, tgt))
                            yield text, answer
                        bar.update(len(found))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for program in list(self._programs):  # at work only after an interruption, which does not wait for them
                program.kill()
            pool.shutdown()

    def _batch(self, texts: Sequence[str]) -> list[str]:
        program = Program(self.model)
        self._programs.add(program)
        return program.lines(texts)

    def _checked_batch(self, texts: Sequence[str]) -> dict[str, str]:
        """What the program writes for *texts* together, once it is seen that this does not depend on their company.

        The first batch is also translated in another order, and a sample of it alone; of every later one a sample.
        Raises `ModelError` with two outputs that differ.
        """
        found = dict(zip(texts, self._batch(texts), strict=True))
        draw = random.Random(hashlib.blake2b("\n".join(texts).encode("utf-8", "replace")).digest())
        if not self._checked:
            order = draw.sample(list(texts), len(texts))
            self._compare(found, order, self._batch(order), "in another order")
        sample = draw.sample(list(texts), min(len(texts), _LATER_SAMPLE if self._checked else _FIRST_SAMPLE))
        alone = [self._batch([text])[0] for text in sample] if len(texts) > 1 else []
        self._compare(found, sample[: len(alone)], alone, "alone")
        self._checked = True
        return found

    def _compare(self, found: Mapping[str, str], texts: Sequence[str], lines: Sequence[str], how: str) -> None:
        for text, line in zip(texts, lines, strict=True):
            if found[text] != line:
                raise ModelError(
                    f"program '{self.model.shown:.120}' translates {text!r:.80} in two ways: {found[text]!r:.80} among "
                    f"other texts, {line!r:.80} {how}; one text influences the next: give each its own process, "
                    "omit isolate: batch"
                )
