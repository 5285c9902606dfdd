"""Ward notes: a German-speaking doctor's files are written once, read each morning and scored."""
import re
import shutil
from collections import Counter
from pathlib import Path

NOTES = {
    "bett1": "Patient klagt über Übelkeit; Müdigkeit. Blutdruck erhöht, Puls ruhig.",
    "bett2": "Fieber 38,9. Husten, Müdigkeit, keine Übelkeit. Röntgen bestellt.",
    "bett3": "Schmerz im Knie; Schwellung. Röntgen zeigt Fraktur.",
    "bett4": "Allergie auf Nüsse. Puls ruhig, kein Fieber.",
}
WEIGHT = {"Übelkeit": 2.0, "Fieber": 3.0, "Müdigkeit": 1.0, "Schmerz": 2.5, "Röntgen": 1.5, "Fraktur": 4.0}


class Archive:
    """The first copy is on paper (typed in); from the second week it is scanned in from files."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def store(self):
        for bed, text in NOTES.items():
            (self.folder / f"{bed}.txt").write_bytes(text.encode("utf-8"))

    def typed(self, bed):
        return NOTES[bed]

    def scanned(self, bed):
        return (self.folder / f"{bed}.txt").read_text(errors="ignore")


def findings(text):
    return Counter(word for word in re.findall(r"\w+", text) if word in WEIGHT)


class Round:
    def __init__(self, archive):
        self.archive = archive
        self.scores = dict.fromkeys(NOTES, 0.0)
        self.read = self.archive.typed
        self.order = sorted(NOTES)

    def switch(self):
        self.read = self.archive.scanned

    def visit(self, bed, doubt):
        found = findings(self.read(bed))
        load = sum(WEIGHT[word] * count for word, count in sorted(found.items()))
        self.scores[bed] = round(0.7 * self.scores[bed] + load * doubt, 5)

    def plan(self):
        self.order.sort(key=lambda bed: (-self.scores[bed], bed))

    def state(self):
        return {"scores": dict(self.scores), "order": list(self.order)}

    def restore(self, state):
        self.scores, self.order = dict(state["scores"]), list(state["order"])


def main(run):
    folder = Path("/var/tmp/anamnesis_notes")
    folder.mkdir(exist_ok=True)
    rng = run.rng("doubt")
    try:
        ward = Round(Archive(folder))
        ward.archive.store()
        run.track("ward", ward)
        for day in run.ticks(14):
            if day == 7:
                ward.switch()
            for bed in list(ward.order)[:3]:
                ward.visit(bed, float(rng.uniform(0.5, 1.0)))
            ward.plan()
        return ward.order[0]
    finally:
        shutil.rmtree(folder)
