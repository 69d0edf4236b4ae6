"""What one rule adds to one candidate, and why."""

from attrs import frozen


@frozen
class Boost:
    """`amount` is in units of the candidates' own spread: 1.0 lifts the last to the first.

    `reason` names the hint as a hit reason: ``keyword:redis``.
    """

    rule: str
    amount: float
    reason: str
