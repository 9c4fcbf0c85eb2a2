"""The explanation of a decision: a table when printed, a mapping in code; rules in words."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import banditree as bt
from banditree.policies.explanation import (
    ArmExplanation,
    Explanation,
    binary_interval,
    continuous_interval,
)

NAN = float("nan")


def known(mean: float, n: int = 10, rule: str = "always") -> ArmExplanation:
    return ArmExplanation(rule, n, mean, (0.0, 1.0))


# ---- the mapping ----


def test_arms_stand_in_order_of_falling_mean() -> None:
    given = {"none": known(NAN, 0), "low": known(0.1), "high": known(0.9), 7: known(0.5)}
    explanation = Explanation(given)
    assert list(explanation) == ["high", 7, "low", "none"]
    assert len(explanation) == 4
    assert explanation["low"] is given["low"]
    assert explanation[7].mean == 0.5
    assert "high" in explanation
    assert "other" not in explanation
    assert dict(explanation.items()) == given
    with pytest.raises(KeyError, match="other"):
        explanation["other"]


def test_arms_of_equal_mean_keep_their_order() -> None:
    assert list(Explanation(dict.fromkeys("cab", known(0.5)))) == ["c", "a", "b"]


# ---- the table ----


def test_the_table_is_aligned() -> None:
    long = "age > 40 and city in Berlin, Paris"
    explanation = Explanation(
        {
            "a long name": ArmExplanation("always", 3, -1234.5, (-2000.0, -469.0)),
            3: ArmExplanation(long, 12345, 0.25, (0.2, 0.3)),
            "new": ArmExplanation("always", 0, NAN, (0.0, 1.0)),
        }
    )
    assert str(explanation).splitlines() == [
        "arm            mean     interval                   n  rule",
        "3              0.250    0.200 to 0.300         12345  age > 40 and city in Berlin, Paris",
        "a long name  -1234.500  -2000.000 to -469.000      3  always",
        "new              -      0.000 to 1.000             0  always",
    ]
    assert repr(explanation) == str(explanation)


def test_an_unbounded_interval_is_readable() -> None:
    policy = bt.TreeHeuristic(["golf", "tennis"], reward="continuous")
    policy.learn({"age": 31}, "golf", 2.5)
    assert str(policy.explain({"age": 31})).splitlines() == [
        "arm     mean   interval     n  rule",
        "golf    2.500  -inf to inf  1  always",
        "tennis    -    -inf to inf  0  always",
    ]


def test_only_eligible_arms_are_explained() -> None:
    policy = bt.TreeHeuristic(["golf", "tennis", "chess"])
    assert set(policy.explain({}, arms=["chess", "golf"])) == {"chess", "golf"}
    policy.remove_arm("golf")
    assert set(policy.explain({})) == {"tennis", "chess"}


def odd() -> Explanation:
    return Explanation(
        {
            "<b>&": ArmExplanation('city is "<x>" and age ≤ 40', 12, 0.25, (0.2, np.float64(0.3))),
            7: ArmExplanation("always", 0, NAN, (-float("inf"), float("inf"))),
        }
    )


def test_a_notebook_shows_a_table_in_which_names_are_escaped() -> None:
    rows = ElementTree.fromstring(odd()._repr_html_()).iter("tr")
    assert [[cell.text for cell in row] for row in rows] == [
        ["arm", "mean", "interval", "n", "rule"],
        ["<b>&", "0.250", "0.200 to 0.300", "12", 'city is "<x>" and age ≤ 40'],
        ["7", "-", "-inf to inf", "0", "always"],
    ]


def test_a_dictionary_of_it_is_json() -> None:
    given = odd().to_dict()
    assert list(given) == ["<b>&", 7]
    assert given["<b>&"] == odd()["<b>&"].to_dict()
    assert json.loads(json.dumps(given, allow_nan=False)) == {
        "<b>&": {
            "rule": 'city is "<x>" and age ≤ 40',
            "n": 12,
            "mean": 0.25,
            "interval": [0.2, 0.3],
        },
        "7": {"rule": "always", "n": 0, "mean": None, "interval": [None, None]},
    }


def test_the_dictionary_of_a_policys_explanation_is_json() -> None:
    policy = bt.TreeHeuristic(["golf", "tennis"])
    policy.learn_many([{"age": 31}, {"age": 64}], ["golf", "golf"], [0, 1])
    given = policy.explain({"age": 31}).to_dict()
    assert json.loads(json.dumps(given, allow_nan=False)) == given


def test_a_name_of_two_lines_takes_one_row() -> None:
    policy = bt.TreeHeuristic(["golf\nclub", "tennis"], seed=1)
    rows = [{"age\n(years)": age} for age in range(60)]
    policy.learn_many(rows, ["golf\nclub"] * 60, [int(i > 30) for i in range(60)])
    shown = str(policy.explain(rows[0])).splitlines()
    assert len(shown) == 3
    assert any(line.startswith("golf club  ") for line in shown)
    assert str(policy.features).splitlines()[1:] == ["age (years)  number           -"]


def test_a_terminal_gets_the_letters_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "age ≤ 40" in str(odd())
    monkeypatch.setattr("sys.stdout", SimpleNamespace(encoding="ascii"))
    assert str(odd()).splitlines()[1] == (
        '<b>&  0.250  0.200 to 0.300  12  city is "<x>" and age <= 40'
    )
    assert "age <= 40" in str(odd()["<b>&"])
    assert odd()["<b>&"].rule.endswith("age ≤ 40")


# ---- intervals ----


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (3, 10), (10, 10), (24, 120), (2.5, 7)])
def test_binary_intervals_are_wilsons(successes: float, n: int) -> None:
    """The ends are the rates from which the observed share is 1.96 standard errors away."""
    low, high = binary_interval(successes, n)
    share, quantile = successes / n, stats.norm.ppf(0.975)
    for end in {low, high} - {0.0, 1.0}:
        assert abs(share - end) == pytest.approx(quantile * np.sqrt(end * (1 - end) / n))
    assert 0 <= low <= share <= high <= 1
    assert low < high


def test_continuous_intervals_are_normal() -> None:
    rewards = [1.0, 4.0, 2.0, 8.0]
    error = np.std(rewards, ddof=1) / 2
    expected = stats.norm.interval(0.95, 3.75, error)
    assert continuous_interval(3.75, np.var(rewards, ddof=1), 4) == pytest.approx(expected)
    policy = bt.TreeHeuristic(["golf"], reward="continuous")
    policy.learn_many([{}] * 4, ["golf"] * 4, rewards)
    assert policy.explain({})["golf"].interval == pytest.approx(expected)


# ---- rules ----


def tree_of(rows: list[dict[str, Any]], y: list[float], **options: Any) -> bt.Tree:
    return bt.Tree(**options).fit(rows, y)


def test_a_leaf_alone_holds_always() -> None:
    assert tree_of([{"age": 1}, {"age": 2}], [1, 1]).rule({"age": 5}) == "always"


def test_of_each_feature_only_the_tightest_conditions_are_named() -> None:
    ages = [{"age": age} for age in range(8)]
    tree = tree_of(ages, [0, 0, 5, 6, 8, 8, 2, 2])
    assert tree.depth > 2
    assert tree.rule({"age": 2}) == "age > 1.5 and age ≤ 2.5"
    assert tree.rule({"age": 0}) == "age ≤ 1.5"
    assert tree.rule({"age": 7}) == "age > 5.5"
    assert tree.rule({"age": 4.2}) in ("age > 3.5 and age ≤ 5.5", "age ≤ 5.5 and age > 3.5")


def test_of_lists_the_last_is_the_shortest() -> None:
    rows = [{"city": city} for city in "abcabc"]
    tree = tree_of(rows, [0, 3, 4, 0, 3, 4])
    assert [tree.rule({"city": city}) for city in "abc"] == ["city is a", "city is b", "city is c"]


def test_booleans_and_several_features() -> None:
    rows = [{"member": m, "age": a} for m in (True, False) for a in (20, 40)]
    tree = tree_of(rows, [0, 1, 5, 5])
    assert tree.rule({"member": False, "age": 20}) == "not member"
    assert tree.rule({"member": True, "age": 20}) == "member and age ≤ 30"
    assert tree.rule({"member": True, "age": 40}) == "member and age > 30"


def test_missing_values_are_named_where_they_matter() -> None:
    rows = [{"age": 20}, {"age": 30}, {"age": 50}, {"age": None}]
    tree = tree_of(rows, [0, 0, 1, 1])
    assert tree.rule({"age": 60}) == "age > 40 (or missing)"  # its n counts one
    assert tree.rule({"age": None}) == tree.rule({}) == "age > 40 (or missing)"
    assert tree.rule({"age": 20}) == "age ≤ 40"


def test_present_against_missing() -> None:
    tree = tree_of([{"age": 1}, {"age": 2}, {"age": None}, {}], [0, 0, 1, 1])
    assert tree.rule({"age": 9}) == "age is present"
    assert tree.rule({}) == "age is missing"


def test_a_category_never_seen_goes_the_way_of_the_missing() -> None:
    rows = [{"city": city} for city in ("a", "b", "b", None)]
    tree = tree_of(rows, [0, 1, 1, 1])
    assert tree.rule({"city": "b"}) == "city is b (or missing)"
    assert tree.rule({"city": "a"}) == "city is a"
    assert tree.rule({"city": "never seen"}) == "city is b (or missing)"


def test_a_category_that_a_node_has_not_seen_is_no_category_of_its_list() -> None:
    """Known to the tree, but not to the node that asks: it goes the way of the missing."""
    rows = [{"age": 1, "city": city} for city in "aab"] + [{"age": 9, "city": "c"}] * 5
    tree = tree_of(rows, [0, 0, 1, 5, 5, 5, 5, 5])
    assert tree.rule({"age": 1, "city": "a"}) == "age ≤ 5 and city is a"
    assert tree.rule({"age": 1, "city": "c"}) == "age ≤ 5 and city is a (or missing)"


def test_rules_of_arrays_name_positions() -> None:
    assert bt.Tree().fit([[1, 5], [2, 5]], [0, 1]).rule([1, 5]) == "feature 0 ≤ 1.5"
