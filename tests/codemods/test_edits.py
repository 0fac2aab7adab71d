"""Edits by offset: nested ones from the inside out, insertions in the order in which they were asked for."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.rewrite.edits import Edits
from codemods.source import changed

TEXT = "0123456789"


def applied(edits: Edits, text: str = TEXT) -> str:
    return changed(text, edits.changes())


def wrap(mark: str):
    return lambda inner: f"{mark}({inner})"


def test_no_edits_leave_the_text_as_it_is():
    edits = Edits(TEXT)
    assert not edits
    assert applied(edits) == TEXT


def test_a_replacement_takes_the_place_of_its_span():
    edits = Edits(TEXT)
    edits.replace(2, 5, "abc!")
    assert edits
    assert applied(edits) == "01abc!56789"


def test_edits_may_be_asked_for_in_any_order():
    edits = Edits(TEXT)
    edits.replace(8, 9, "B")
    edits.replace(0, 1, "A")
    assert applied(edits) == "A1234567B9"


def test_adjacent_edits_do_not_touch_each_other():
    edits = Edits(TEXT)
    edits.replace(2, 4, "A")
    edits.replace(4, 6, "B")
    assert applied(edits) == "01AB6789"


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("a if(b)else c", "d", "a if d else c"),
        ("a if(b)else c", "(d)", "a if(d)else c"),
        ("a if [b] else c", "d", "a if d else c"),
        ("return(b)", "d", "return d"),
    ],
)
def test_a_word_in_place_of_a_bracket_does_not_touch_another(text, new, expected):
    edits = Edits(text)
    start = text.index("b") - 1
    edits.replace(start, start + 3, new)
    assert applied(edits, text) == expected


def test_the_whole_text_can_be_replaced():
    edits = Edits(TEXT)
    edits.replace(0, 10, "")
    assert applied(edits) == ""


def test_a_transformation_sees_the_edits_inside_of_it():
    edits = Edits(TEXT)
    edits.transform(1, 9, wrap("f"))
    edits.replace(3, 5, "X")
    assert applied(edits) == "0f(12X5678)9"


def test_three_levels_are_applied_from_the_inside_out():
    edits = Edits(TEXT)
    edits.transform(4, 6, wrap("c"))
    edits.transform(0, 10, wrap("a"))
    edits.transform(2, 8, wrap("b"))
    assert applied(edits) == "a(01b(23c(45)67)89)"


def test_a_replacement_drops_what_was_done_inside_of_it():
    edits = Edits(TEXT)
    edits.replace(2, 8, "X")
    edits.replace(4, 5, "Y")
    assert applied(edits) == "01X89"


def test_an_insertion_goes_in_front_of_what_starts_there():
    edits = Edits(TEXT)
    edits.replace(3, 5, "X")
    edits.insert(3, lambda: "+")
    assert applied(edits) == "012+X56789"


def test_an_insertion_at_an_edits_end_goes_behind_it():
    edits = Edits(TEXT)
    edits.insert(5, lambda: "+")
    edits.replace(3, 5, "X")
    assert applied(edits) == "012X+56789"


def test_insertions_at_one_place_keep_their_order():
    edits = Edits(TEXT)
    for mark in "abc":
        edits.insert(4, lambda mark=mark: mark)
    assert applied(edits) == "0123abc456789"


@pytest.mark.parametrize(("offset", "wanted"), [(0, "+0123456789"), (10, "0123456789+")])
def test_insertions_at_the_ends(offset: int, wanted: str):
    edits = Edits(TEXT)
    edits.insert(offset, lambda: "+")
    assert applied(edits) == wanted


def test_an_insertion_inside_of_a_transformation_is_seen_by_it():
    edits = Edits(TEXT)
    edits.transform(2, 8, str.upper)
    edits.insert(4, lambda: "abc")
    assert applied(edits) == "0123ABC456789"


def test_an_insertion_is_made_only_when_it_is_needed():
    made = []
    edits = Edits(TEXT)
    edits.insert(4, lambda: made.append(1) or "x")
    assert not made
    applied(edits)
    assert made == [1]


def test_the_text_inside_of_a_span_leaves_its_own_edit_out():
    edits = Edits(TEXT)
    edits.transform(2, 8, wrap("f"))
    edits.replace(4, 5, "X")
    edits.replace(0, 1, "Y")
    assert edits.inside(2, 8) == "23X567"
    assert edits.inside(1, 9) == "1f(23X567)8"


def test_inside_knows_edits_at_the_ends_of_its_span():
    edits = Edits(TEXT)
    edits.replace(2, 3, "A")
    edits.replace(7, 8, "B")
    assert edits.inside(2, 8) == "A3456B"


def test_edits_that_overlap_without_nesting_are_a_defect():
    edits = Edits(TEXT)
    edits.replace(2, 5, "A")
    edits.replace(4, 7, "B")
    with pytest.raises(AssertionError, match="overlap"):
        applied(edits)


# ------------------------------------------------------------------------------- against a model


@dataclasses.dataclass(frozen=True)
class Span:
    """A span with disjoint spans inside of it."""

    start: int
    end: int
    children: tuple[Span, ...]


@st.composite
def spans(draw: st.DrawFn, start: int = 0, end: int = 24, depth: int = 0) -> tuple[Span, ...]:
    """Disjoint spans in order, some with spans inside that are shorter than they are."""
    cuts = sorted(draw(st.sets(st.integers(start, end), max_size=6)))
    found = []
    for left, right in zip(cuts[::2], cuts[1::2], strict=False):
        inner = draw(spans(left, right, depth + 1)) if depth < 3 and right - left > 2 else ()
        inner = tuple(child for child in inner if (child.start, child.end) != (left, right))
        found.append(Span(left, right, inner))
    return tuple(found)


def flat(forest: tuple[Span, ...]) -> list[Span]:
    return [span for root in forest for span in (root, *flat(root.children))]


def model(text: str, forest: tuple[Span, ...], start: int, end: int) -> str:
    """What applying must give, written down recursively."""
    parts, position = [], start
    for span in forest:
        inner = model(text, span.children, span.start, span.end)
        parts += [text[position : span.start], f"<{span.start}:{inner}>"]
        position = span.end
    return "".join(parts) + text[position:end]


@given(spans(), st.randoms(use_true_random=False))
def test_nested_edits_agree_with_a_recursive_model(forest: tuple[Span, ...], random):
    text = "abcdefghijklmnopqrstuvwxyz"
    asked = flat(forest)
    random.shuffle(asked)
    edits = Edits(text)
    for span in asked:
        edits.transform(span.start, span.end, lambda inner, at=span.start: f"<{at}:{inner}>")
    assert applied(edits, text) == model(text, forest, 0, len(text))
    for span in asked:
        assert edits.inside(span.start, span.end) == model(text, span.children, span.start, span.end)


@given(st.lists(st.tuples(st.integers(0, 8), st.text("xy", min_size=1, max_size=2)), max_size=6))
def test_insertions_agree_with_a_model_and_keep_the_text(insertions: list[tuple[int, str]]):
    text = "01234567"
    edits = Edits(text)
    for offset, inserted in insertions:
        edits.insert(offset, lambda inserted=inserted: inserted)
    wanted = "".join(
        "".join(inserted for offset, inserted in insertions if offset == place) + text[place : place + 1]
        for place in range(9)
    )
    assert applied(edits, text) == wanted
