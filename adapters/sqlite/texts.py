"""Texts in columns: any Python text goes in and comes out the same."""


def stored(text: str | None) -> str | bytes | None:
    """*text* as a column holds it: text that UTF-8 cannot encode (lone surrogates) as bytes.

    Such a text is, for instance, a file name that is not UTF-8. As bytes it stays equal to itself,
    and other readers of the file meet an odd value instead of an error.
    """
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def loaded(value: str | bytes) -> str:
    """The text that `stored` made *value* of."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def loaded_or_none(value: str | bytes | None) -> str | None:
    """As `loaded`; None stays None."""
    return None if value is None else loaded(value)
