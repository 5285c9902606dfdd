"""Principal components of a questionnaire with pandas and numpy; writes a small report."""
import io

import numpy as np
import pandas as pd

QUESTIONS = ["age", "income", "rooms", "commute", "screens", "sleep", "sport", "coffee"]
IDENTIFIERS = {"respondent", "interviewer"}


def respond(count):
    rng = np.random.default_rng(77)
    hidden = rng.standard_normal((count, 2))
    loadings = rng.standard_normal((2, len(QUESTIONS)))
    answers = hidden @ loadings + 0.4 * rng.standard_normal((count, len(QUESTIONS)))
    frame = pd.DataFrame(answers, columns=QUESTIONS)
    frame.insert(0, "respondent", [f"r{n:04d}" for n in range(count)])
    frame.insert(1, "interviewer", rng.integers(1, 6, size=count))
    return frame


def through_csv(frame):
    """As it arrives from the field."""
    text = io.StringIO()
    frame.to_csv(text, index=False, float_format="%.5f")
    text.seek(0)
    return pd.read_csv(text)


def usable(frame):
    wanted = set(frame.columns) - IDENTIFIERS
    return frame[list(wanted)]


def standardise(frame):
    return (frame - frame.mean()) / frame.std()


def power_iteration(matrix, steps):
    """The leading direction; starts near the first axis."""
    vector = 0.5 ** np.arange(len(matrix))
    for _ in range(steps):
        vector = matrix @ vector
        vector /= np.linalg.norm(vector)
    return vector


def describe(frame):
    buckets = pd.cut(frame["age"], [-np.inf, -1, 1, np.inf], labels=["young", "middle", "old"])
    return frame.groupby(buckets, observed=True)["sleep"].agg(["count", "mean"]).round(3)


def main():
    frame = through_csv(respond(160))
    print(describe(frame).to_string())
    answers = standardise(usable(frame))
    matrix = np.corrcoef(answers.to_numpy(), rowvar=False)
    direction = power_iteration(matrix, steps=4)
    scores = answers.to_numpy() @ direction
    frame["score"] = scores
    extremes = frame.loc[frame["score"].abs().nlargest(3).index, ["respondent", "score"]]
    print("explained: %.5f" % (direction @ matrix @ direction / len(matrix)))
    for row in extremes.itertuples(index=False):
        print(f"{row.respondent} {row.score:+.4f}")
    print("interviewer effect: %.5f" % frame.groupby("interviewer")["score"].mean().std())


main()
