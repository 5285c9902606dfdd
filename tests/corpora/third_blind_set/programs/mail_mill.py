"""A newsletter service: templates with variants, an audience that clicks, a digest now and then."""

import os
import random

from jinja2 import DictLoader, Environment

TEMPLATES = {
    "daily.txt": "{{ hello(reader) }}\n{% for item in items|sort %}- {{ item|title }}\n{% endfor %}Bye, {{ sender }}",
    "digest.txt": "{{ vary('Your week', 'Seven days, one mail', 'What you missed', 'Catch up') }}: "
                  "{{ items|length }} stories. {{ vary('Read on.', 'Have a look.', 'More inside.', 'Enjoy!') }}",
    "footer.txt": "-- {{ sender }} / {{ tags|sort|join(' ') }}",
}
TOPICS = ["harvest", "tariffs", "cinema", "derby", "rail strike", "budget", "storms", "opera", "chess", "bees"]
PREVIEW = os.environ.get("MILL_PREVIEW") == "1"


class Press:
    def __init__(self, wording):
        self.wording = wording
        self.jinja = Environment(loader=DictLoader(TEMPLATES), autoescape=False)
        self.jinja.globals.update(vary=self.vary, hello=self.hello, sender="The Mill")
        self.proofs = []

    def vary(self, *variants):
        return self.wording.choice(variants)

    @staticmethod
    def hello(reader):
        return f"{['Hi', 'Dear', 'Hello'][len(reader) % 3]} {reader},"

    def print(self, name, **values):
        return self.jinja.get_template(name).render(**values)

    def proof(self, items, tags):
        """For the editor's eyes: nothing of it is sent."""
        pages = [self.print("footer.txt", tags=tags), self.print("daily.txt", reader="editor", items=items)]
        pages.append(self.print("digest.txt", items=items))
        self.proofs.append("\f".join(pages))


class Outbox:
    def __init__(self):
        self.letters = 0
        self.characters = 0
        self.clicks = 0
        self.subject = ""

    def send(self, text, readers, mood):
        self.letters += readers
        self.characters += len(text) * readers
        self.clicks += int(readers * mood)

    def state(self):
        return {"letters": self.letters, "characters": self.characters, "clicks": self.clicks, "subject": self.subject}

    def restore(self, state):
        self.letters, self.characters = state["letters"], state["characters"]
        self.clicks, self.subject = state["clicks"], state["subject"]


class Desk:
    """Collects stories over the week."""

    def __init__(self, news):
        self.news = news
        self.week = []
        self.tags = set()

    def collect(self):
        items = [TOPICS[int(i)] for i in self.news.choice(len(TOPICS), size=3, replace=False)]
        self.week += items
        self.tags.update(word for item in items for word in item.split())
        return items

    def close(self):
        week, self.week = self.week, []
        self.tags.clear()
        return week


def main(run):
    press = Press(random.Random(int(run.rng("wording").integers(1 << 32))))
    desk = Desk(run.rng("news"))
    audience = run.rng("audience")
    outbox = run.track("outbox", Outbox())
    for tick in run.ticks(28):
        items = desk.collect()
        readers = 40 + int(audience.integers(0, 25))
        outbox.send(press.print("daily.txt", reader="reader", items=items), readers, audience.random())
        if PREVIEW and tick in (2, 3):
            press.proof(items, desk.tags)
        if tick % 7 == 6:
            footer = press.print("footer.txt", tags=desk.tags)
            digest = press.print("digest.txt", items=desk.close())
            outbox.subject = digest.split(":")[0]
            outbox.send(digest + footer, readers, 0.5 * audience.random())
