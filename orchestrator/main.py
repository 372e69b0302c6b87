"""The `kernelvault` command. Everything slow is imported by the command that needs it: `--help` answers at once."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="kernelvault",
    help="Turns PyTorch references into verified, measured HIP and Triton kernels for AMD CDNA GPUs.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
corpus_app = typer.Typer(help="Looks into the corpus.", no_args_is_help=True)
app.add_typer(corpus_app, name="corpus")
suite_app = typer.Typer(help="Sends well-known collections of kernels through the services.", no_args_is_help=True)
app.add_typer(suite_app, name="suite")
token_app = typer.Typer(help="Makes and checks bearer tokens for services that others reach.", no_args_is_help=True)
app.add_typer(token_app, name="token")

_INTERRUPTED = 130
Target = Annotated[str, typer.Option(help="gfx90a, gfx942 or gfx950; several with commas.")]
Device = Annotated[str, typer.Option(help="MI300X, MI325X, MI355X or MI250X.")]
Format = Annotated[str | None, typer.Option(help="hip-abi, hip-torch or triton; found out if not given.")]
EntryPoint = Annotated[str, typer.Option(help="What to call in the candidate; `run` or `forward` by default.")]
Timeout = Annotated[float, typer.Option(help="Seconds for each run of foreign code; 0: the server's default.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Up = Annotated[bool, typer.Option("--up", help="Start the services first where they do not run.")]
TaskArgument = Annotated[
    str, typer.Argument(help="A reference .py, a task of the starter suite, or tasks/...", metavar="TASK")
]
CandidateArgument = Annotated[Path, typer.Argument(help="A .hip, .cpp or .py file.", metavar="CANDIDATE")]


@app.command()
def up() -> None:
    """Starts the S3 server and the five services, or what of them does not run."""
    from orchestrator.commands import cluster

    cluster.up()


@app.command()
def down() -> None:
    """Stops what `up` started. The corpus stays."""
    from orchestrator.commands import cluster

    cluster.down()


@app.command()
def status(as_json: Json = False) -> None:
    """Shows the services; exits with 1 unless all are serving."""
    from orchestrator.commands import cluster

    raise typer.Exit(cluster.status(as_json=as_json))


@app.command()
def run(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Reference files or folders such as KernelBench's; the starter suite if none is given."),
    ] = None,
    tasks: Annotated[str, typer.Option(help="Only these titles, with commas; `*` matches anything.")] = "",
    level: Annotated[int, typer.Option(help="Only this level.", min=0)] = 0,
    attempts: Annotated[int, typer.Option(help="Candidates for each task.", min=1)] = 2,
    model: Annotated[str, typer.Option(help="Who writes the candidates; see `kernelvault models`.")] = "rules",
    target: Target = "gfx942",
    device: Device = "MI300X",
    language: Annotated[str, typer.Option(help="hip or triton; hip unless --format says otherwise.")] = "",
    format_: Annotated[str, typer.Option("--format", help="hip-abi, hip-torch or triton.")] = "",
    seed_kernel: Annotated[
        Path | None, typer.Option(help="A CUDA, HIP or Triton source that a model ports; of one task.")
    ] = None,
    seed_license: Annotated[str, typer.Option(help="Its licence as an SPDX expression, where known.")] = "",
    optimize: Annotated[
        Path | None, typer.Option(help="A kernel of one task that is right and shall be faster.")
    ] = None,
    kernel: Annotated[str, typer.Option(help="Rewrite only this `__global__` function of it.")] = "",
    reflect: Annotated[bool, typer.Option(help="Let a model say why an attempt failed before the next one.")] = True,
    concurrency: Annotated[int, typer.Option(help="Tasks that are worked on at once.", min=1)] = 4,
    name: Annotated[str, typer.Option("--run", help="The run's name; one that was stopped goes on.")] = "",
    timeout: Timeout = 0,
    start: Up = False,
    as_json: Json = False,
) -> None:
    """Writes, verifies, measures and keeps kernels for many tasks."""
    from orchestrator import baseline, candidates, seeds
    from orchestrator.commands import runs
    from orchestrator.options import Options

    chosen = baseline.chosen(optimize, kernel, candidates.format_of(language, format_) if language or format_ else "")
    options = Options(
        attempts=attempts,
        model=model,
        targets=tuple(target.split(",")),
        device=device,
        format=candidates.name_of(chosen.candidate.format) if chosen else candidates.format_of(language, format_),
        concurrency=concurrency,
        timeout_s=timeout,
        reflect=reflect,
        seed=seeds.chosen(seed_kernel, seed_license),
        baseline=chosen,
    )
    wanted = runs.Wanted(paths=tuple(paths or ()), titles=tasks, level=level)
    raise typer.Exit(runs.run(wanted, options, name=name, start=start, as_json=as_json))


@app.command()
def verify(
    task: TaskArgument,
    candidate: CandidateArgument,
    format_: Annotated[
        str | None, typer.Option("--format", help="hip-abi, hip-torch, hip-module or triton; else found out.")
    ] = None,
    entry_point: EntryPoint = "",
    target: Target = "gfx942",
    timeout: Timeout = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not answer from the cache.")] = False,
    start: Up = False,
    as_json: Json = False,
) -> None:
    """Checks a kernel against a task: exits with 0 if it passed, 1 if not, 2 where that could not be found out."""
    from orchestrator.commands import work

    ask = work.Ask(candidate=candidate, format=format_, entry_point=entry_point, target=target, timeout_s=timeout)
    raise typer.Exit(work.verify(task, ask, fresh=fresh, start=start, as_json=as_json))


@app.command()
def profile(
    task: TaskArgument,
    candidate: CandidateArgument,
    format_: Annotated[
        str | None, typer.Option("--format", help="hip-abi, hip-torch, hip-module or triton; else found out.")
    ] = None,
    entry_point: EntryPoint = "",
    target: Target = "gfx942",
    device: Device = "MI300X",
    timeout: Timeout = 0,
    start: Up = False,
    as_json: Json = False,
) -> None:
    """Verifies a kernel and estimates its time; exits as `verify` does."""
    from orchestrator.commands import work

    ask = work.Ask(candidate=candidate, format=format_, entry_point=entry_point, target=target, timeout_s=timeout)
    raise typer.Exit(work.profile(task, ask, device=device, start=start, as_json=as_json))


@app.command()
def standardize(
    task: TaskArgument,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the module there.")] = None,
    model: Annotated[str, typer.Option(help="Who rewrites a module that torch.fx cannot trace.")] = "",
    start: Up = False,
) -> None:
    """Rewrites a task's module into its functional form (`module_fn`) and proves both equal."""
    from orchestrator.commands import work

    work.standardize(task, output_path=output, model=model, start=start)


@app.command()
def models() -> None:
    """Lists who can write candidates."""
    from orchestrator.commands import work

    work.models()


@app.command()
def rewards(
    snapshot: Annotated[str, typer.Argument(help="The name of a snapshot.")],
    formula: Annotated[
        str, typer.Option(help="correct-speedup-copy-penalty, soft-clip-novelty, legacy or triton-turn.")
    ] = "correct-speedup-copy-penalty",
    as_json: Json = False,
) -> None:
    """Computes the reward of each sample of a snapshot."""
    from orchestrator.commands import corpus

    corpus.rewards(snapshot, formula, as_json=as_json)


@corpus_app.command("stats")
def corpus_stats(as_json: Json = False) -> None:
    """Counts samples and tasks."""
    from orchestrator.commands import corpus

    corpus.stats(as_json=as_json)


@corpus_app.command("search")
def corpus_search(
    query: Annotated[str, typer.Argument(help="Words of the source, the task or the explanation.")],
    limit: Annotated[int, typer.Option(min=1)] = 20,
    verdict: Annotated[str, typer.Option(help="Only samples with this verdict.")] = "",
    as_json: Json = False,
) -> None:
    """Finds samples by their words, best first."""
    from orchestrator.commands import corpus

    corpus.search(query, limit=limit, verdict=verdict, as_json=as_json)


@corpus_app.command("show")
def corpus_show(name: Annotated[str, typer.Argument(help="samples/... or tasks/...")], as_json: Json = False) -> None:
    """Shows a sample or a task."""
    from orchestrator.commands import corpus

    corpus.show(name, as_json=as_json)


@corpus_app.command("export")
def corpus_export(
    folder: Annotated[Path, typer.Argument(help="Where to write; made if missing.")],
    snapshot: Annotated[str, typer.Option(help="Only the samples of this snapshot.")] = "",
    verdict: Annotated[str, typer.Option(help="Only samples with this verdict.")] = "",
    run_name: Annotated[str, typer.Option("--run", help="Only samples of this run.")] = "",
) -> None:
    """Writes samples as JSON lines and their kernels as files."""
    from orchestrator.commands import corpus

    corpus.export(folder, snapshot=snapshot, verdict=verdict, run_name=run_name)


@corpus_app.command("snapshot")
def corpus_snapshot(
    name: Annotated[str | None, typer.Argument(help="Lower case, digits, `_` and `-`; none: list them.")] = None,
    verdict: Annotated[str, typer.Option(help="Only samples with this verdict.")] = "",
    run_name: Annotated[str, typer.Option("--run", help="Only samples of this run.")] = "",
) -> None:
    """Freezes the corpus, or a part of it, under a name."""
    from orchestrator.commands import corpus

    corpus.snapshot(name, verdict=verdict, run_name=run_name)


@token_app.command("create")
def token_create(
    name: Annotated[str, typer.Option(help="Whose it is: a person, a team or a service.")],
    role: Annotated[list[str], typer.Option(help="read, submit, train, service or admin; may be repeated.")],
    expires: Annotated[str, typer.Option(help="How long it is valid (90d, 12h) or until when (ISO 8601).")] = "",
    append: Annotated[Path | None, typer.Option(help="A tokens file that the line is added to.")] = None,
    as_json: Json = False,
) -> None:
    """Makes a token: prints it once, and the line for the servers' tokens file."""
    from orchestrator.commands import token

    token.create(name, ",".join(role), expires=expires, append=append, as_json=as_json)


@token_app.command("check")
def token_check(
    file: Annotated[Path, typer.Argument(help="A tokens file.", metavar="TOKENS_FILE")],
    presented: Annotated[
        Path | None, typer.Option("--token-file", help="A file with a token to look up in it; `-`: stdin.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Checks a tokens file and lists who is in it; with a token, says whose it is, or exits with 1."""
    from orchestrator.commands import token

    raise typer.Exit(token.check(file, presented, as_json=as_json))


@suite_app.command("tritonbench-g")
def suite_tritonbench_g(
    only: Annotated[str, typer.Option(help="Only these scripts, with commas; `*` matches anything.")] = "",
    limit: Annotated[int, typer.Option(help="At most so many scripts; 0: all.", min=0)] = 0,
    target: Target = "gfx942",
    jobs: Annotated[int, typer.Option(help="Scripts that are worked on at once.", min=1)] = 2,
    timeout: Annotated[float, typer.Option(help="CPU seconds for each run and each compilation.")] = 60,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not answer from the cache.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results there too.")] = None,
    start: Up = False,
) -> None:
    """Compiles and interprets the 184 scripts of TritonBench-G; the wheel that holds them is downloaded once."""
    from orchestrator.commands import scripts

    ask = scripts.Ask(
        only=only, limit=limit, target=target, jobs=jobs, timeout_s=timeout, fresh=fresh, json_file=json_file
    )
    raise typer.Exit(scripts.run(ask, start=start))


def main() -> None:
    """Runs the command line; what a user can mend is one line on stderr and exit code 2."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except Exception as error:
        from orchestrator.commands.faults import explain

        message = explain(error)
        if message is None:
            # A bug of ours. Python's own exit code for it is 1, which says that a kernel did not pass.
            traceback.print_exc()
            message = "this is a bug: please report it with the lines above"
        print(f"kernelvault: {message}", file=sys.stderr)
        sys.exit(2)
