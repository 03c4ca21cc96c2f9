"""What else the ratings say: the human reply, what ratings depend on, true values, emotions, metrics."""

from collections.abc import Sequence

from generation.metrics.naming import title_of
from hits.views.result_shapes import Found, Section, Table, tables_by_dataset
from hits.views.result_words import counted, estimated, p_value, share, undefined


def calibration(found: Found) -> Section:
    title = "The human reply as a measure"
    lead = "How the hidden human replies were rated, beside the models in the same dialogs."
    rows = found["calibration"]
    if not rows:
        return Section("calibration", title, lead, [], ["No human reply was rated: the study has no checkpoints."])
    return Section("calibration", title, lead, tables_by_dataset(rows, found["values"]))


def dependences(found: Found) -> Section:
    lead = (
        "Effects on the score, given the dataset and the model: whether ratings depend on where and when a reply was "
        "shown, and to whom. Corrected together by Holm."
    )
    rows = [[_factor(one), _effect(one), p_value(one, "corrected_p_value")] for one in found["dependences"]]
    worker = found["worker_effect"]
    deviation = f"deviation between workers {estimated(worker['deviation'])}"
    rows.append(["worker", deviation, p_value(worker, "p_value")])
    levels = [
        Table(
            _factor(one),
            "Level",
            ["effect", "ratings"],
            [
                [level["level"], estimated(level["effect"], "+.3f"), counted(level["ratings"])]
                for level in one["levels"]
            ],
        )
        for one in found["dependences"]
        if not undefined(one["levels"])
    ]
    table = Table("", "Factor", ["effect on the score", "p"], rows)
    return Section(
        "dependences",
        "What ratings depend on besides the model",
        lead,
        [table],
        more=levels,
        more_title="Level by level",
    )


_FACTORS = {
    "place": "place of the card on the page, from 0",
    "position": "position of the dialog in the HIT, from 0",
    "day": "day",
    "wave": "wave of publication",
    "time": "time taken",
}


def _factor(one: Found) -> str:
    return str(_FACTORS.get(one["factor"], one["factor"]))


def _effect(one: Found) -> str:
    if not undefined(one["levels"]):
        effects = [level["effect"]["value"] for level in one["levels"]]
        return f"{min(effects):+.3f} to {max(effects):+.3f} over {len(effects)} levels"
    slope = estimated(one["slope"], "+.3f")
    return slope if undefined(one["slope"]) else f"{slope} for {one['unit']}"


def true_values(found: Found) -> Section:
    lead = (
        "What is most likely true of each reply, by Dawid and Skene's model of workers who err, beside the majority "
        "and the mean. Shares are of replies, not of ratings."
    )
    title, true = "True values", found["true_values"]
    if reason := undefined(true):
        return Section("true-values", title, lead, [], [f"{reason}."])
    values = found["values"]
    columns = [
        *(f"Dawid-Skene {one}" for one in values),
        *(f"majority {one}" for one in values),
        "mean score",
        "replies",
    ]
    rows = [
        [
            f"{one['dataset']}, {one['generator']}",
            *(f"{100 * part:.1f} %" for part in (*one["dawid_skene"], *one["majority"])),
            f"{one['mean_score']:.3f}",
            counted(one["replies"]),
        ]
        for one in true["shares"]
    ]
    return Section(
        "true-values", title, lead, [Table("", "Replies of", columns, rows)], [_reliability(true["workers"])]
    )


def _reliability(workers: Sequence[Found]) -> str:
    rates = sorted(one["reliability"] for one in workers)
    low, middle, high = rates[0], rates[len(rates) // 2], rates[-1]
    return f"Workers say the true value with a chance of {low:.2f} to {high:.2f}, {middle:.2f} in the middle."


def labels(found: Found) -> Section:
    title = "Emotions and intents of the replies"
    lead = "What was predicted for the replies that workers rated so: the paper's figure 5."
    if not found["labels"]:
        return Section("labels", title, lead, [], ["The replies came without predicted emotions or intents."])
    tables: list[Table] = []
    unlabelled: dict[str, list[str]] = {}
    for one in found["labels"]:
        name = f"{one['generator'] or 'all models'}, rated {one['value']}"
        if reason := undefined(one["labels"]):
            unlabelled.setdefault(reason, []).append(name)
        else:
            rows = [[label["label"], share(label), counted(label["count"])] for label in one["labels"]]
            tables.append(Table(f"{name}, {one['ratings']:,} ratings", "Label", ["share", "ratings"], rows))
    notes = [f"{'; '.join(names)}: {reason}." for reason, names in unlabelled.items()]
    return Section("labels", title, lead, tables, notes)


def metrics(found: Found) -> Section | None:
    if not found["metrics"]:
        return None
    columns = ["replies", "Pearson", "Spearman", "Pearson, of the models' means"]
    rows = [
        [
            title_of(one["metric"]).capitalize(),
            counted(one["replies"]),
            *(estimated(one[name]) for name in ("pearson", "spearman", "of_generators")),
        ]
        for one in found["metrics"]
    ]
    means = [
        Table(
            f"{title_of(one['metric']).capitalize()}, by model",
            "Model",
            ["mean score", "mean metric", "replies"],
            [
                [mean["generator"], f"{mean['mean_score']:.3f}", f"{mean['mean_metric']:.4g}", counted(mean["replies"])]
                for mean in one["generators"]
            ],
        )
        for one in found["metrics"]
    ]
    lead = "How far automatic metrics of the replies go together with their mean scores."
    table = Table("", "Metric", columns, rows)
    return Section("metrics", "Automatic metrics beside ratings", lead, [table, *means])
