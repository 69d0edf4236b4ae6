"""How the properties are tried: the same examples in every run, without a time for each."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile("suite")
