"""All that plays: with which constants, and how it was set up, in words for the page."""

from typing import Any

from peers.contextual_bandits import OnlineLinUCB, Refitted
from peers.full_labels import ForestLabels, OnlineLabels
from peers.lightgbm_bootstrap import LightGbmBootstrap
from peers.mab_wiser import LinUCB, TreeBandit
from peers.ours import Ours
from peers.player import Entry
from peers.river_trees import RiverTrees
from peers.vowpal_wabbit import MINUS_ONE_ZERO, ZERO_ONE, VowpalWabbit
from peers.xgboost_tets import XGBoostTets

OWN = "banditree"
REFITTED = "fitted again at each 15 % of growth"
IN_TURN = "arms in turn before the first fit"

# This library


def own(policy: str, about: str, *grid: dict[str, Any]) -> Entry:
    return Entry(policy, OWN, OWN, Ours, about, {"policy": policy}, grid)


OURS = (
    own("Bandit", "as it comes; it has no constant to tune"),
    own("TreeHeuristic", "as it comes; it has no constant to tune"),
    own(
        "LinUCB",
        "as it comes; it standardises and binarises by itself",
        {"alpha": 0.3},
        {"alpha": 0.1},
    ),
    own("Uniform", "all arms as likely: what regret is without learning"),
)

# Vowpal Wabbit

EXPLORERS = {
    "--bag 10": ("--epsilon 0.02", "--learning_rate 0.1"),
    "--squarecb": ("--gamma_scale 100", "--gamma_scale 1000"),
    "--regcbopt": ("--mellowness 0.01", "--mellowness 0.001"),
}
PAIRS = "-q :: -b 24"
COSTS = {"0/1": ZERO_ONE, "−1/0": MINUS_ONE_ZERO}
BOUNDS = "--cb_min_cost -1 --cb_max_cost 0"
VOWPAL_WABBIT = (
    "`--cb_explore K`, a linear model of each arm; numbers standardised, as on raw ones its regret "
    "was higher; categories, and numbers that are 0 or 1, as `name=value`, missing values left "
    "out, and so are the zeros of numbers that are 1 in less than a quarter of the rows; `-b 24` "
    "with `-q ::`, so that pairs of features share few weights; with costs −1/0, `--regcbopt` is "
    "told these bounds; a decision is a draw from its probabilities, and the label has the "
    "probability"
)


def vowpal_wabbit(explorer: str, pairs: str, costs: str) -> Entry:
    bounds = BOUNDS * (explorer == "--regcbopt" and COSTS[costs] == MINUS_ONE_ZERO)
    flags = explorer.replace("--regcbopt", "--regcb --regcbopt")  # as alone it is deprecated
    options = " ".join(filter(None, ["--cb_explore", flags, pairs, bounds]))
    return Entry(
        f"VW {explorer}{' -q ::' * bool(pairs)}, costs {costs}",
        "vowpalwabbit",
        "vowpalwabbit",
        VowpalWabbit,
        VOWPAL_WABBIT,
        {"options": options, "cost_of_none": COSTS[costs]},
        tuple({"extra": constant} for constant in EXPLORERS[explorer]),
    )


# contextualbandits


def contextual(policy: str, about: str, *grid: dict[str, Any]) -> Entry:
    library = "contextualbandits"
    told = f"{about}; {REFITTED}, random before 20 observations"
    return Entry(f"{library} {policy}", library, library, Refitted, told, {"policy": policy}, grid)


RECOMMENDED = {"beta_prior": "auto", "ucb_from_empty": False}
CONTEXTUAL = (
    contextual(
        "PartitionedTS",
        "one-hot features, scikit-learn's trees as they come",
        {"beta_prior": "auto"},
        {"beta_prior": "auto", "min_samples_leaf": 10},
    ),
    contextual(
        "PartitionedUCB",
        "one-hot features, scikit-learn's trees as they come",
        {"percentile": 95},
        {"min_samples_leaf": 10},
    ),
    contextual(
        "BootstrappedTS",
        "ten resamples of `DecisionTreeClassifier`, one-hot features",
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 20},
    ),
    contextual(
        "LogisticUCB",
        "one-hot features, standardised",
        {"percentile": 60},
        {"percentile": 95},
    ),
    Entry(
        "contextualbandits LinUCB",
        "contextualbandits",
        "contextualbandits",
        OnlineLinUCB,
        "one-hot features, standardised; `partial_fit` of each observation; tried beside are the "
        "cold start and the smaller alpha that its documentation recommends",
        grid=({"alpha": 0.3, **RECOMMENDED}, {"alpha": 0.1, **RECOMMENDED}),
    ),
)

# Others

OTHERS = (
    Entry(
        "MABWiser TreeBandit",
        "mabwiser",
        "mabwiser",
        TreeBandit,
        "`ThompsonSampling` in the leaves of scikit-learn's trees, one-hot features; "
        f"{REFITTED}, and, as `partial_fit` keeps the trees, `partial_fit` between; {IN_TURN}",
        grid=({"min_samples_leaf": 10}, {"max_depth": 5}),
    ),
    Entry(
        "MABWiser LinUCB",
        "mabwiser",
        "mabwiser",
        LinUCB,
        "one-hot features, standardised, and a column of ones, as its regression has no intercept; "
        "`partial_fit` of each observation",
        grid=({"alpha": 0.3}, {"alpha": 0.1}),
    ),
    Entry(
        "river Hoeffding trees",
        "river",
        "river",
        RiverTrees,
        "a `HoeffdingTreeClassifier` for each arm, categories as `nominal_attributes`; a draw from "
        "Beta(1 + successes, 1 + failures) of the leaf; learns each observation at once",
        grid=({"grace_period": 50}, {"grace_period": 50, "delta": 0.01}),
    ),
    Entry(
        "XGBoost TETS",
        "xgboost",
        "xgboost",
        XGBoostTets,
        "after Nilsson et al., Tree Ensembles for Contextual Bandits: 100 trees of depth 6, rate "
        "0.3, `min_child_weight` 2, `base_score` the mean; one model, the arm being one more "
        f"category, categories as such; variances from the residuals in the leaves; {REFITTED}, "
        f"leaves updated between; {IN_TURN}",
        grid=({"exploration": 0.3}, {"exploration": 3.0}, {"gamma": 1.0}),
    ),
    Entry(
        "LightGBM bootstrap",
        "lightgbm",
        "lightgbm",
        LightGbmBootstrap,
        "ten models of 100 trees on resamples of all observations, the arm being one more "
        f"category, categories as such; a decision asks one of them at random; {REFITTED}, "
        f"{IN_TURN}",
        grid=({"min_data_in_leaf": 5}, {"learning_rate": 0.03}),
    ),
)

# Bounds

LABELS = "no bandit, a bound: after each step it is told what every arm would have paid"
BOUND = (
    Entry(
        "all labels, SGDClassifier",
        "scikit-learn",
        "sklearn",
        OnlineLabels,
        f"{LABELS}; a logistic model of each arm, `partial_fit` of each observation; one-hot "
        "features, standardised",
        grid=({"alpha": 0.001}, {"alpha": 0.01}, {"alpha": 0.001, "average": True}),
    ),
    Entry(
        "all labels, RandomForest",
        "scikit-learn",
        "sklearn",
        ForestLabels,
        f"{LABELS}; `RandomForestRegressor`, one-hot features, {REFITTED}",
        grid=({"min_samples_leaf": 5},),
    ),
)

LINEUP = (
    *OURS,
    *(
        vowpal_wabbit(e, pairs, costs)
        for e in EXPLORERS
        for pairs in ("", PAIRS)
        for costs in COSTS
    ),
    *CONTEXTUAL,
    *OTHERS,
    *BOUND,
)
ENTRIES: dict[str, Entry] = {entry.name: entry for entry in LINEUP}
