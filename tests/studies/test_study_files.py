"""Studies in TOML, and what is said about wrong ones."""

from pathlib import Path

import pytest

import banditree as bt
from banditree.environments import Classification
from banditree.studies import EnvironmentSpec, PolicySpec, Study, paper_study, read_study
from banditree.studies.building import build
from banditree.studies.runner import plan
from banditree.studies.specs import policy_names

SHOP = """
horizon = 2000
policies = ["TreeHeuristic", "Uniform"]
[environments.shop]
file = "visits.parquet"
label = "bought"
"""


LIN = "environments = ['sports']\n[policies.LinUCB]\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_five_lines_are_a_study(tmp_path: Path):
    study = read_study(write(tmp_path, SHOP))
    assert study == Study(
        policies=[PolicySpec("TreeHeuristic"), PolicySpec("Uniform")],
        environments=[
            EnvironmentSpec("shop", file=str(tmp_path / "visits.parquet"), label="bought")
        ],
        horizon=2000,
        name="study",
    )


def test_dates_of_a_file_become_parts(tmp_path: Path):
    rows = "".join(f"2024-05-0{day},{label}\n" for day, label in [(1, "tea"), (2, "nut")])
    (tmp_path / "visits.csv").write_text(f"signup,bought\n{rows}")
    text = SHOP.replace("visits.parquet", "visits.csv")
    (plain,) = read_study(write(tmp_path, text)).environments
    with pytest.raises(bt.InvalidParameterError, match="hold them: 'signup'; name them in dates"):
        build(plain)
    (asked,) = read_study(write(tmp_path, f"{text}dates = ['signup']\n")).environments
    assert asked.dates == ("signup",)
    environment = build(asked)
    assert isinstance(environment, Classification)
    assert environment.features[-2:] == ("signup_day", "signup_weekday")
    with pytest.raises(bt.InvalidParameterError, match="dates is for files"):
        EnvironmentSpec("sports", dates=("signup",))


def test_lists_are_grids_and_tables_are_per_environment(tmp_path: Path):
    text = """
    seeds = 1
    environments = ["sports", "adult"]
    [policies."my LinUCB"]
    policy = "LinUCB"
    alpha = [0.1, 1.0]
    regularization = 2.0
    [policies.BanditForest.depth]
    sports = 4
    adult = 2
    """
    cells = [
        (str(variant), spec.name) for variant, spec, _ in read_study(write(tmp_path, text)).cells()
    ]
    assert cells == [
        ("my LinUCB(alpha=0.1, regularization=2.0)", "sports"),
        ("my LinUCB(alpha=1.0, regularization=2.0)", "sports"),
        ("BanditForest(depth=4)", "sports"),
        ("my LinUCB(alpha=0.1, regularization=2.0)", "adult"),
        ("my LinUCB(alpha=1.0, regularization=2.0)", "adult"),
        ("BanditForest(depth=2)", "adult"),
    ]


def test_none_can_be_said(tmp_path: Path):
    text = """
    environments = ["sports", "adult"]
    [policies]
    plain = {policy = "TreeBootstrap", pruning = "None"}
    grid = {policy = "TreeHeuristic", max_bins = [32, "None"]}
    each = {policy = "TreeHeuristic", max_depth = {sports = "None", adult = 3}}
    """
    policies = read_study(write(tmp_path, text)).policies
    assert [dict(policy.parameters) for policy in policies] == [
        {"pruning": None},
        {"max_bins": [32, None]},
        {"max_depth": {"sports": None, "adult": 3}},
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SHOP.replace("horizon", "horizn"), "study.toml, line 2: .*'horizn'; did you mean 'hori"),
        (SHOP.replace("2000", '"2000"'), "line 2: horizon must be a whole number, got '2000'"),
        (SHOP.replace("2000", "true"), "line 2: horizon must be a whole number, got True"),
        (SHOP.replace("2000", "0"), "study.toml: horizon must be a whole number from 1 up"),
        (SHOP.replace("Uniform", "Unifrom"), "no policy 'Unifrom'; did you mean 'Uniform'"),
        (SHOP.replace("Uniform", "TreeHeuristic"), "'TreeHeuristic' occurs twice"),
        (SHOP.replace('"Uniform"', "3"), "line 3: policies must be a list of strings"),
        (SHOP.replace("label", "lable"), "line 6: .*'lable'; did you mean 'label'"),
        (SHOP.replace('"bought"', "[1]"), "line 6: label must be a string, got \\[1\\]"),
        (SHOP + "unused = [1]\n", "line 7: unused must be a list of strings, got \\[1\\]"),
        (SHOP.split("[env")[0], "has no environments; add some"),
        ("environments = ['sports']", "has no policies; add some"),
        ("policies = ['Uniform']\n[environments]\nsports = 3", "line 3: sports must be a table"),
        ("environments = ['sports']\n[policies.A]\npolicy = 3", "line 3: policy must be a string"),
        ("environments = ['sports']\n[policies.A]\n", "line 2: there is no policy 'A'"),
        (
            LIN + "alhpa = 1.0",
            "line 2: there is no parameter of LinUCB 'alhpa'; did you mean 'alph",
        ),
        (LIN + "seed = 3", "line 2: seed is given by the study; leave it out"),
        (LIN + "arms = [1]", "line 2: arms is given by the study"),
        (LIN + "alpha = 'big'", "line 2: LinUCB\\(alpha=big\\): alpha must be a number"),
        (LIN + "alpha = []", "line 2: alpha is a list of values to try, and has none"),
        (LIN + "alpha = [1.0, 1.0]", "line 2: alpha is .* and has twice the same"),
        (LIN + "alpha = {sports = []}", "line 2: alpha is .* and has none"),
        (
            "environments = ['sports']\n[policies.TreeHeuristic]\nprior = [2, 3]",
            "prior must be two numbers .* for \\[2, 3\\] itself write \\[\\[2, 3\\]\\]",
        ),
        ("policies = ['Bootstrap']\nenvironments = ['sports']", "Bootstrap takes a learner"),
        (SHOP + "name = 'a'", "line 7: name is of the study, not of 'shop'; write it above"),
        (SHOP + "horizon = 0", "line 4: horizon must be a whole number from 1 up"),
        (SHOP + "seeds = 0", "line 4: seeds must be a whole number from 1 up"),
        (SHOP + "policies = ['Unifrom']", "no policy of shop 'Unifrom'; did you mean 'Uniform'"),
        (SHOP + "horizon = 9\ndelay = 9", "shop: delay is 9, and a run has only 9 steps"),
        (SHOP + "task = 'sports'", "line 4: there is a task and a file; leave one of them out"),
        (SHOP + "dropped = [['a']]", "line 4: dropped must be a list of names"),
        (SHOP + "random_delay = true", "line 4: random_delay needs a delay"),
        (SHOP + "drift_at = -1", "line 4: drift_at must be a whole number from 0 up"),
        (SHOP + "delay = 0", "line 4: delay must be a whole number from 1 up"),
        (SHOP + "delay = 2000", "shop: delay is 2,000, and a run has only 2,000 steps"),
        (SHOP.replace('file = "visits.parquet"', ""), "line 4: there is no environment 'shop'"),
        (SHOP.replace('label = "bought"', ""), "line 4: label must name the column of .*visits"),
        (
            "policies = ['Uniform']\n[environments.adult]\nlabel = 'income'",
            "line 2: label is for files, and 'adult' is built in",
        ),
        ("horizon = ", "study.toml is not TOML: Invalid value"),
    ],
)
def test_wrong_files_are_refused_with_their_line(tmp_path: Path, text: str, words: str):
    with pytest.raises(bt.InvalidParameterError, match=words):
        read_study(write(tmp_path, text))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path):
    with pytest.raises(bt.InvalidParameterError, match="there is no file"):
        read_study(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(bt.InvalidParameterError, match="cannot be read"):
        read_study(tmp_path / "binary.toml")


def test_a_parameter_must_be_given_for_every_environment():
    study = Study(
        [PolicySpec("BanditForest", parameters={"depth": {"adult": 2}})],
        [EnvironmentSpec("sports")],
    )
    with pytest.raises(bt.InvalidParameterError, match="for adult, not for 'sports'"):
        list(study.cells())


def test_every_policy_can_be_named_but_the_one_that_needs_a_learner():
    named = policy_names()
    assert "TreeBootstrap" in named
    assert "Bootstrap" not in named
    assert all(hasattr(bt, name) for name in named)


def test_the_paper_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for key in ("adult", "shuttle", "covertype", "census"):
        (tmp_path / f"{key}.parquet").touch()
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path))
    study = paper_study(full=True)
    assert (study.horizon, study.seeds) == (10_000, 10)
    shapes = {e.name: (study.horizon_of(e), len(study.seeds_of(e))) for e in study.environments}
    assert shapes == {
        "sports": (10_000, 20),
        "adult": (10_000, 10),
        "shuttle": (10_000, 10),
        "covertype": (10_000, 10),
        "census": (10_000, 10),
        "covertype-long": (100_000, 3),
        "adult-long": (45_776, 5),
    }
    cells = [(str(v), e.name) for v, e, seed in study.cells() if seed == 0]
    assert len([c for c in cells if c[0].startswith("LinUCB(") and c[1] == "adult"]) == 6
    assert ("TreeBootstrap(cold_start=until_success)", "adult-long") in cells
    assert ("LogisticUCB, λ=1(alpha=0.0001, regularization=1.0)", "census") in cells
    for depth in (1, 2, 5):
        assert (f"BanditForest(trees=3, depth={depth})", "covertype") in cells
    assert ("BanditForest, radius/4(trees=3, radius=0.25, depth=3)", "census") in cells
    assert ("OfflineTree", "adult") in cells
    long = {text.partition("(")[0] for text, name in cells if name == "covertype-long"}
    assert long == {"TreeBootstrap", "TreeHeuristic", "LinUCB", "LogisticUCB", "OfflineTree"}


def test_an_environment_has_steps_seeds_and_policies_of_its_own(tmp_path: Path):
    text = "horizon = 50\npolicies = ['Uniform', 'Greedy']\n[environments.sports]\nseeds = 1\n"
    text += "[environments.long]\ntask = 'sports'\nhorizon = 200\nseeds = 2\npolicies = ['Greedy']"
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    study = read_study(path)
    cells = [(v.label, e.name, seed) for v, e, seed in study.cells()]
    assert cells == [
        ("Uniform", "sports", 0),
        ("Greedy", "sports", 0),
        ("Greedy", "long", 0),
        ("Greedy", "long", 1),
    ]
    runs = [(run.environment.name, run.horizon) for run in plan(study).runs]
    assert runs == [("long", 200), ("long", 200), ("sports", 50), ("sports", 50)]


def test_the_quick_version_leaves_out_what_takes_most_of_the_time():
    def run_on_census(**given: list[str]) -> set[str]:
        return {
            variant.label for variant, spec, _ in paper_study(tasks=["census"], **given).cells()
        }

    assert "LinUCB" in run_on_census()
    assert "LogisticUCB" not in run_on_census()
    assert run_on_census(policies=["LogisticUCB"]) == {"LogisticUCB"}


def test_what_is_asked_for_goes_before_what_a_task_has_of_its_own():
    study = paper_study(full=True, tasks=["sports", "adult-long"], horizon=70, seeds=2)
    assert {(study.horizon_of(e), len(study.seeds_of(e))) for e in study.environments} == {(70, 2)}
    assert "adult-long" not in [e.name for e in paper_study(full=True, horizon=70).environments]
    with pytest.raises(bt.InvalidParameterError, match="no task 'adult-long'"):
        paper_study(tasks=["adult-long"])
    with pytest.raises(bt.InvalidParameterError, match="on adult-long only TreeBootstrap, "):
        paper_study(full=True, tasks=["adult-long"], policies=["Uniform"])


def test_the_paper_says_by_which_command_it_is_run():
    assert paper_study().command == "banditree reproduce"
    study = paper_study(full=True, horizon=500, seeds=2, first_seed=7)
    assert study.command == "banditree reproduce --full --horizon 500 --repeats 2 --seed 7"


def test_without_data_there_are_the_digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path))
    monkeypatch.setenv("BANDITREE_CACHE", str(tmp_path))
    assert [e.name for e in paper_study().environments][-1] == "digits"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tasks": ["adlut"]}, "no task 'adlut'; did you mean 'adult'"),
        ({"policies": ["linucb"]}, "no policy 'linucb'; did you mean 'LinUCB'"),
        ({"horizon": 0}, "horizon must be"),
        ({"seeds": 0}, "seeds must be"),
        ({"first_seed": -1}, "first_seed must be"),
    ],
)
def test_wrong_parts_of_the_paper_are_refused(settings: dict[str, object], words: str):
    with pytest.raises(bt.InvalidParameterError, match=words):
        paper_study(**settings)  # type: ignore[arg-type]
