"""Engines."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gpulog import _core, _functors, _options, _views
from gpulog._program import Diagnostic, Program, ProgramError
from gpulog._profile import Profile
from gpulog._proofs import FailedRule, Proof
from gpulog._rows import Answer, Changes, Relation
from gpulog._warnings import warn as _warn

Progress = Callable[[int, int, int, int, float], object]

# Time between two attempts to cancel an evaluation that may not have started.
_SECONDS_BETWEEN_CANCELS = 0.05


class Engine:
    """Runs a program and holds its relations: `engine["edge"]`, or `engine.edge` unless a method has the name.

    A program given as text or path may have relations that are filled later, without a warning.
    facts, output: folders of .input and .output files. jobs: threads, 0 for all processors. backend: auto, cpu or gpu.
    device: number of the GPU. storage: auto, hisa, hash, bits or words. memory_limit: in bytes, 0 for no limit.
    spill: folder for large relations when memory is short.
    proofs: enables `why` and `why_not`. changes: enables `changes`, which keeps the results before an evaluation.
    warn: whether overflowing sums and counts are a ProgramWarning.
    tuning: values of tuning choices by name.
    functors: functions by the names in .functor declarations; several threads of the engine may call a function, but
    one at a time. Functions marked with `batched` receive NumPy arrays, all other functions the values of one row.
    functor_libraries, functor_directories: libraries of functors, and where to search them.
    Several engines may run in several threads; calling an engine during a running call raises InputError.
    """

    def __init__(
        self,
        program: Program | str | os.PathLike[str],
        *,
        facts: str | os.PathLike[str] = ".",
        output: str | os.PathLike[str] | None = None,
        jobs: int = 0,
        backend: str = "auto",
        device: int = 0,
        storage: str = "auto",
        memory_limit: int = 0,
        spill: str | os.PathLike[str] | None = None,
        proofs: bool = False,
        changes: bool = False,
        functor_libraries: Iterable[str] = (),
        functor_directories: Iterable[str] = (),
        functors: Mapping[str, _functors.Functor] | None = None,
        tuning: Mapping[str, str] | None = None,
        warn: bool = True,
    ) -> None:
        self.program = program if isinstance(program, Program) else Program(program, warn=False)
        self._functors = _functors.for_core(functors or {})
        self._warns = warn
        self._core = _core.Engine(
            source=self.program.core,
            structures=self.program.structures,
            facts=_options.folder("facts", facts),
            output=_options.folder("output", output),
            jobs=_options.whole_number("jobs", jobs, 0),
            backend=backend,
            device=_options.whole_number("device", device, 0),
            storage=storage,
            memory_limit=_options.whole_number("memory_limit", memory_limit, 0),
            spill=_options.folder("spill", spill),
            proofs=proofs,
            changes=changes,
            functor_libraries=list(functor_libraries),
            functor_directories=list(functor_directories),
            functors=list(self._functors),
            tuning=dict(tuning or {}),
        )
        self._on_change: dict[str, Callable[[Changes], object]] = {}
        self._names = [name for name, _ in self._core.relations()]

    def __getitem__(self, name: str) -> Relation:
        """Returns the relation with this name. Raises InputError, with a suggestion, if no such relation exists."""
        return Relation(self._core, name)

    def __getattr__(self, name: str) -> Relation:
        """Returns the relation with this name."""
        if name.startswith("_"):  # also before the engine has any names
            raise AttributeError(name)
        if name not in self._names:
            raise AttributeError(f"no relation or method is named {name}{_options.did_you_mean(name, dir(self))}")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in self._names if name.isidentifier())})

    def _ipython_key_completions_(self) -> list[str]:
        return self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names)

    @property
    def relations(self) -> list[Relation]:
        """All declared relations, in the order of the text."""
        return [self[name] for name in self._names]

    def load(self) -> None:
        """Reads the files of all .input directives, except for filled relations of the program."""
        self._core.load()

    def evaluate(self, progress: Progress | bool | None = None, *, timeout: float | None = None) -> None:
        """Evaluates the program. Further Python threads keep running, and KeyboardInterrupt stops the evaluation.

        After inserting or erasing facts, evaluates again and updates the dependent relations. After an exception, the
        engine supports only reset(). Exceptions from a functor propagate to the caller. A sum or count that overflows
        its word is a ProgramWarning.

        progress: called regularly with stratum, number of strata, iteration, tuples and seconds; True shows a tqdm
        progress line. timeout: in seconds, after which TimeoutError is raised.
        """
        self._evaluate(progress, timeout)
        self._warn()
        self._report_changes()

    async def evaluate_async(self, progress: Progress | bool | None = None, *, timeout: float | None = None) -> None:
        """Like evaluate(), in another thread. Cancelling the task cancels the evaluation."""
        work = asyncio.ensure_future(asyncio.to_thread(self._evaluate, progress, timeout))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            while not work.done():
                self.cancel()
                await asyncio.wait({work}, timeout=_SECONDS_BETWEEN_CANCELS)
            work.exception()  # the exception of the cancelled evaluation is not lost by mistake
            raise
        self._warn()
        self._report_changes()

    def _evaluate(self, progress: Progress | bool | None, timeout: float | None) -> None:
        limit = _options.seconds("timeout", timeout)
        if progress is True:
            with _tqdm() as show:
                self._core.evaluate(show, self._functors, limit)
        else:
            self._core.evaluate(progress or None, self._functors, limit)

    def _warn(self) -> None:
        for text in self._core.warnings() if self._warns else ():
            _warn(text)

    def query(self, body: str, *, timeout: float | None = None) -> Answer:
        """Evaluates the program if necessary, and then a query: the body of a rule, as in
        `engine.query('reach("Linz", x), x != "Wels"')`.

        Returns the rows, with a column per variable outside of aggregates, except variables that start with an
        underscore. `profile()` and `statistics` then describe the query. Raises ProgramError for a query with errors,
        and otherwise exceptions like evaluate().
        """
        answer = self._core.query(body, self._functors, _options.seconds("timeout", timeout))
        if isinstance(answer, tuple):
            report, remarks = answer
            raise ProgramError(report, [Diagnostic(*remark) for remark in remarks])
        self._warn()
        self._report_changes()
        return Answer(answer, body)

    def changes(self, relation: str) -> Changes:
        """Returns the tuples of a relation that the last evaluation added and removed.

        Requires `changes=True`. After `restore`, the restored results are the results before the evaluation.
        """
        added, removed = self._core.changes(relation)
        return Changes(Answer(added, relation), Answer(removed, relation))

    def on_change(self, relation: str, function: Callable[[Changes], object] | None) -> None:
        """Calls a function with the changes after each evaluation that changes the relation, in the thread of the caller.

        Replaces the relation's earlier function; None ends the calls. The function may use the engine, also for further
        evaluations. An exception propagates to the caller of `evaluate`; the results remain valid.
        """
        self._core.on_change(relation, function is not None)
        if function is None:
            self._on_change.pop(relation, None)
        else:
            self._on_change[relation] = function

    def _report_changes(self) -> None:
        for name, added, removed in self._core.take_changes():
            if function := self._on_change.get(name):
                function(Changes(Answer(added, name), Answer(removed, name)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Stores the results of the last evaluation in a file, for `restore` and `gpulog.load`.

        Raises InputError before the first evaluation, and after a query.
        """
        self._core.save(os.fspath(path))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Restores results that an engine with the same program and options stored.

        Facts can then be inserted and erased; `load` reads the fact files that have changed. Call before anything else
        changes facts. Raises InputError for a file that cannot be used, which leaves the engine unchanged.
        """
        self._core.restore(os.fspath(path))

    def why(self, tuple: str, depth: int = 4) -> Proof | None:
        """Explains why a tuple exists, by a proof of minimal height; returns None if the tuple does not exist.

        tuple: as in a program: `reach(1, "b")`. depth: levels of tuples in the tree, at least 2; deeper tuples are cut.
        Requires `proofs=True` and an evaluation. The first calls build indexes of the relations that they read.
        """
        found = self._core.why(tuple, depth, self._functors)
        return None if found is None else Proof.of_core(found)

    def why_not(self, tuple: str, **values: object) -> list[FailedRule]:
        """Explains, for a tuple that does not exist, which literals of each rule's body hold.

        values: values of variables that the tuple does not bind, as in a program; a text is `'"b"'`.
        """
        given = {name: str(value) for name, value in values.items()}
        return [FailedRule.of_core(tuple, one) for one in self._core.why_not(tuple, given, self._functors)]

    def write(self) -> None:
        """Writes the files of all .output directives (all or nothing)."""
        self._core.write()

    def reset(self) -> None:
        """Discards all facts and results. Existing arrays and data frames stay valid."""
        self._core.reset()

    def cancel(self) -> None:
        """Cancels the running call of a different thread, which raises Cancelled. No effect without such a call."""
        self._core.cancel()

    @property
    def statistics(self) -> dict[str, Any]:
        """Figures up to now: times, tuples, bytes and the plan of each rule."""
        figures: dict[str, Any] = json.loads(self._core.statistics())
        return figures

    def profile(self) -> Profile:
        """Returns the time spent: seconds per phase and per rule, with the tuples derived."""
        return Profile.of_statistics(self.statistics)

    def _sizes(self) -> list[tuple[str, int]]:
        return [(one._title(), len(one)) for one in self.relations]

    def __repr__(self) -> str:
        return f"<gpulog.Engine of {len(self)} relations>"

    def __str__(self) -> str:
        """Returns the relations with their sizes."""
        return "\n".join(_views.text_table(("relation", "tuples"), self._sizes()))

    def _repr_html_(self) -> str:
        return _views.html_table(("relation", "tuples"), self._sizes())


class _tqdm:
    """A tqdm line as a progress callback."""

    def __enter__(self) -> _tqdm:
        from tqdm.auto import tqdm

        self._line = tqdm(unit=" tuples", unit_scale=True)
        return self

    def __call__(self, stratum: int, strata: int, iteration: int, tuples: int, seconds: float) -> None:
        self._line.set_description(f"stratum {stratum + 1} of {strata}, iteration {iteration}", refresh=False)
        self._line.n = tuples
        self._line.refresh()

    def __exit__(self, *_: object) -> None:
        self._line.close()


def load(path: str | os.PathLike[str], program: Program | str | os.PathLike[str], **options: Any) -> Engine:
    """Returns an engine with the results that `Engine.save` stored in a file.

    program, options: those of the engine that stored the results. Raises InputError for a file that cannot be used.
    """
    engine = Engine(program, **options)
    engine.restore(path)
    return engine


def run(
    program: Program | str | os.PathLike[str],
    inputs: Mapping[str, Any] | None = None,
    *,
    progress: Progress | bool | None = None,
    timeout: float | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    macros: Mapping[str, object] | None = None,
    word_size: int = 32,
    portable: bool = False,
    facts: str | os.PathLike[str] = ".",
    output: str | os.PathLike[str] | None = None,
    jobs: int = 0,
    backend: str = "auto",
    device: int = 0,
    storage: str = "auto",
    memory_limit: int = 0,
    spill: str | os.PathLike[str] | None = None,
    proofs: bool = False,
    changes: bool = False,
    functor_libraries: Iterable[str] = (),
    functor_directories: Iterable[str] = (),
    functors: Mapping[str, _functors.Functor] | None = None,
    tuning: Mapping[str, str] | None = None,
    warn: bool = True,
    **relations: Any,
) -> Engine:
    """Runs a program on facts, and returns the engine with the results.

    program: a text, a path, or a Program. relations: facts by relation name; use `inputs` if a relation has the name of
    an option. `include`, `macros`, `word_size`, `portable` and `warn` are options of Program, `progress` and `timeout`
    of Engine.evaluate, and all others of Engine. Relations without given facts are read from the files of their .input
    directives. Files of .output directives are written if `output` names a folder.
    """
    given = {**(inputs or {}), **relations}
    try:
        if not isinstance(program, Program):
            program = Program(
                program,
                filled=given,
                include=include,
                macros=macros,
                word_size=word_size,
                portable=portable,
                warn=warn,
            )
        engine = Engine(
            program,
            facts=facts,
            output=output,
            jobs=jobs,
            backend=backend,
            device=device,
            storage=storage,
            memory_limit=memory_limit,
            spill=spill,
            proofs=proofs,
            changes=changes,
            functor_libraries=functor_libraries,
            functor_directories=functor_directories,
            functors=functors,
            tuning=tuning,
            warn=warn,
        )
        for name, rows in given.items():
            engine[name].insert(rows)
    except _core.InputError as problem:
        raise _about_options(problem, relations) from None
    engine.load()
    engine.evaluate(progress, timeout=timeout)
    if output is not None:
        engine.write()
    return engine


def _about_options(problem: _core.InputError, relations: Iterable[str]) -> _core.InputError:
    """Suggests an option for a keyword that names no relation."""
    for name in relations:
        meant = _options.did_you_mean(name, _options.options_of(run), "the option ")
        if meant and str(problem) == f"There is no relation {name}":
            return _core.InputError(f"There is no relation or option {name}{meant}")
    return problem
