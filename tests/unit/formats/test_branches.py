"""Conversations that are trees, in the order in which they are told."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stenograph.formats.shared.branches import tree_order
from strategies import examples

_names = [f"m{number}" for number in range(7)]
trees = st.dictionaries(st.sampled_from(_names), st.none() | st.sampled_from([*_names, "gone"]), max_size=7)


def test_a_branch_comes_after_the_message_it_branches_off() -> None:
    """The shown branch is whole and in order; without a leaf it ends with the last message."""
    parents = {"a": None, "b": "a", "c": "a", "d": "c", "e": "b"}
    assert [placed.id for placed in tree_order(parents, "d")] == ["a", "b", "e", "c", "d"]
    assert [placed.id for placed in tree_order(parents, "d") if placed.is_shown] == ["a", "c", "d"]
    assert [placed.id for placed in tree_order(parents, None) if placed.is_shown] == ["a", "b", "e"]


@given(trees, st.sampled_from([*_names, "gone", None]))
@examples(100)
def test_every_message_of_any_tree_is_told_once(parents: dict[str, str | None], leaf: str | None) -> None:
    """Also in circles and below parents that are not there; what is shown is a line from the leaf upwards."""
    told = list(tree_order(parents, leaf))
    assert sorted(placed.id for placed in told) == sorted(parents)
    shown = [placed.id for placed in told if placed.is_shown]
    assert all(parents[child] == parent for parent, child in pairwise(shown))
    if parents:
        assert shown[-1] == (leaf if leaf in parents else list(parents)[-1])
