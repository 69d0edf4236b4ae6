"""The stage that lost a chunk, as far as the run itself tells."""

from attrs import evolve

from evidence_lookup.domain.explanation.explanation import Explanation
from evidence_lookup.domain.explanation.run import Run
from evidence_lookup.domain.explanation.stage import Stage
from evidence_lookup.domain.explanation.steps import steps_to
from evidence_lookup.domain.explanation.wording import against_floor, compared, counted, listed
from evidence_lookup.domain.selection import Drop, DropReason
from evidence_lookup.domain.status import EvidenceStatus


def explain_run(evidence_key: str, run: Run) -> Explanation:
    """Where the chunk of *evidence_key* stands in *run*.

    A chunk that the selected attempt did not list is ``not_retrieved``, and only that is certain:
    `explain_absence` tells more, from what a deeper search and the catalogue say.
    """
    blank = Explanation(
        evidence_key,
        run.query,
        Stage.UNKNOWN,
        "",
        attempt=run.trace.selected_attempt,
        floor=run.limits.floor if run.limits else None,
        invocation_id=run.invocation_id,
    )
    if run.status is EvidenceStatus.UNAVAILABLE:
        return evolve(blank, stage=Stage.UNAVAILABLE, message=_unavailable(run))
    if run.trace.reason == Stage.EMPTY_QUERY:
        told = "The query is empty, so nothing was searched."
        return evolve(blank, stage=Stage.EMPTY_QUERY, message=told)
    if run.trace.reason == Stage.L1_DISABLED:
        told = "Retrieval is disabled (rag.l1-enabled), so nothing was searched."
        return evolve(blank, stage=Stage.L1_DISABLED, message=told, setting="rag.l1-enabled")
    drops = run.drops(evidence_key)
    if evidence_key in run.blocks:
        return _returned(blank, run, drops)
    if drops:
        return _dropped(blank, run, drops)
    if run.is_shortened:
        told = "The record was shortened (trace.max-bytes) and does not say."
        return evolve(blank, message=told, setting="trace.max-bytes")
    return _not_listed(blank, run)


def _unavailable(run: Run) -> str:
    error = run.attempt.error if run.attempt else None
    told = f": {error.kind}: {error.message}" if error else f" ({run.trace.reason})."
    return f"The backend gave no answer{told}"


def _returned(blank: Explanation, run: Run, drops: tuple[Drop, ...]) -> Explanation:
    key = blank.evidence_key
    candidate = run.candidate(key)
    rank, budget = list(run.blocks).index(key) + 1, run.summary.budget
    told = f"Block {rank} of {len(run.blocks)} in the answer"
    omitted, cut, whole = (
        key in [one.evidence_key for one in entries]
        for entries in (run.summary.omitted, run.summary.cut, run.summary.included)
    )
    if omitted:
        told += f", but the context pack of {budget} tokens (rag.context-budget) had no room for it"
    elif cut:
        told += f", cut to fit the context pack of {budget} tokens (rag.context-budget)"
    elif whole:
        told += ", whole in the context pack"
    named = evolve(
        blank,
        stage=Stage.BUDGET if omitted else Stage.RETURNED,
        setting="rag.context-budget" if omitted or cut else None,
        rank=candidate.original_rank if candidate else None,
        score=run.score(key, candidate),
        similarity=run.blocks[key],
        final_rank=rank,
        packed="cut" if cut else "whole" if whole else None,
    )
    return _told(named, run, drops, f"{told}.")


def _dropped(blank: Explanation, run: Run, drops: tuple[Drop, ...]) -> Explanation:
    # A key's fate is that of its hit that came furthest: of two, one is the other's duplicate.
    reasons = list(DropReason)
    fate = max(
        (one for one in drops if one.reason is not DropReason.DUPLICATE),
        key=lambda one: reasons.index(one.reason),
        default=drops[0],
    )
    candidate = run.candidate(fate.evidence_key, fate.rank)
    named = evolve(
        blank,
        stage=Stage(fate.reason.value),
        rank=fate.rank,
        score=run.score(fate.evidence_key, candidate),
        similarity=fate.similarity,
    )
    match fate.reason:
        case DropReason.BELOW_FLOOR:
            named = evolve(named, setting="rag.evidence-floor")
            message = _below_floor(named)
        case DropReason.DUPLICATE:
            message = "Another hit of the same key was kept, and the record does not say where."
        case DropReason.DOCUMENT_CAP:
            bucket = run.document(fate.evidence_key)
            accepted = (*run.blocks, *run.of_reason(DropReason.RETURN_N))
            instead = tuple(one for one in accepted if run.document(one) == bucket)
            named = evolve(named, setting="rag.max-chunks-per-document", instead=instead)
            message = (
                "Better chunks of its document took the document's places "
                f"(rag.max-chunks-per-document){': ' if instead else ''}{listed(instead)}."
            )
        case DropReason.RETURN_N:
            behind = run.of_reason(DropReason.RETURN_N).index(fate.evidence_key)
            rank = run.trace.block_count + behind + 1
            named = evolve(named, setting="rag.return-n", final_rank=rank)
            message = (
                f"Rank {rank} after selection, and only {counted(run.trace.block_count, 'block')} "
                f"are returned: rag.return-n would have to be {rank}."
            ).replace("1 block are", "1 block is")
    return _told(named, run, drops, message)


def _below_floor(named: Explanation) -> str:
    if named.similarity is None or named.floor is None:
        near = "" if named.similarity is None else f" {named.similarity:.3f}"
        return f"Its similarity{near} is below the evidence floor (rag.evidence-floor)."
    near, floor = compared(named.similarity, named.floor)
    return f"Its similarity {near} is below the evidence floor {floor} (rag.evidence-floor)."


def _not_listed(blank: Explanation, run: Run) -> Explanation:
    attempt = run.attempt
    if attempt is None:
        return evolve(blank, message="The run left no attempt to look at.")
    told = (
        f"Not among the {counted(attempt.candidate_count, 'hit')} that the backend gave; "
        f"{attempt.top_k} were asked for (rag.retrieve-k)."
    )
    narrowed: list[str] = []
    if attempt.hint_filter:
        narrowed.append(f"category {attempt.hint_filter!r}, which the hints gave")
    if run.scope:
        narrowed.append(f"the scope ({', '.join(run.scope)})")
    if narrowed:
        told += f" The search was narrowed to {' and '.join(narrowed)}."
    full = attempt.candidate_count >= attempt.top_k
    return evolve(
        blank,
        stage=Stage.NOT_RETRIEVED,
        message=told,
        setting="rag.retrieve-k" if full else None,
        steps=steps_to(
            Stage.NOT_RETRIEVED,
            {Stage.NOT_RETRIEVED: f"{attempt.candidate_count} hits of {attempt.top_k} asked for"},
            unknown=(Stage.NOT_INDEXED, Stage.FILTERED),
        ),
    )


def _told(named: Explanation, run: Run, drops: tuple[Drop, ...], message: str) -> Explanation:
    """*named* with its message, its further hits and the figures of each stage."""
    further = tuple(
        one.rank for one in drops if one.rank != named.rank and one.reason is DropReason.DUPLICATE
    )
    if further:
        message += f" Hits of the same key count as one with it: {listed_ranks(further)}."
    attempt = run.attempt
    details = {
        Stage.NOT_RETRIEVED: f"rank {named.rank}, {attempt.top_k} asked for"
        if attempt and named.rank
        else "",
        Stage.BELOW_FLOOR: _floor_detail(named),
        Stage.DUPLICATE: f"one with {listed_ranks(further)}" if further else "",
        Stage.DOCUMENT_CAP: f"behind {listed(named.instead)}" if named.instead else "",
        Stage.RETURN_N: f"rank {named.final_rank}, {run.trace.block_count} returned"
        if named.final_rank
        else "",
        Stage.BUDGET: named.packed or "",
    }
    return evolve(
        named,
        message=message,
        duplicates=further,
        steps=steps_to(named.stage, details),
    )


def _floor_detail(named: Explanation) -> str:
    if named.similarity is None:
        return "no similarity to judge by"
    if named.floor is None:
        return f"similarity {named.similarity:.3f}"
    return against_floor(named.similarity, named.floor)


def listed_ranks(ranks: tuple[int, ...]) -> str:
    """``rank 4`` or ``ranks 4 and 9``."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {listed([str(one) for one in ranks])}"
