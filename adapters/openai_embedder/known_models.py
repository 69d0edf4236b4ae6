"""What is known of the models of OpenAI itself."""

from attrs import frozen


@frozen
class KnownModel:
    """`dimension` of its vectors, the cosine of unrelated texts, whether vectors can be shorter.

    The cosines are those that users report; they are not measured by this project.
    """

    dimension: int
    unrelated_similarity: float
    can_shorten: bool


KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(1536, 0.1, True),
    "text-embedding-3-large": KnownModel(3072, 0.1, True),
    "text-embedding-ada-002": KnownModel(1536, 0.7, False),
}
