"""Builds a static page of release notes: entries are parsed, cross-linked and rendered."""
import hashlib
import re
from collections import defaultdict

import jinja2

NOTES = """
2.1.0 | fix: crash when the spool is full | spool printer
2.1.0 | new: dark theme | ui theme
2.0.3 | fix: wrong page count | printer pages driver
2.0.2 | fix: slow start on Windows | startup driver ui
2.0.1 | new: queue view | ui queue spool
1.9.9 | fix: memory leak in the preview | preview ui pages
1.9.8 | new: duplex | printer driver duplex
"""

PAGE = jinja2.Template(
    """<h1>{{ title }}</h1>
{%- for version, entries in releases %}
<h2 id="v{{ version }}">{{ version }}</h2>
<ul>
{%- for entry in entries %}
  <li>{{ entry.text | e }} [{{ entry.labels | join(", ") }}]</li>
{%- endfor %}
</ul>
{%- endfor %}
<p>{{ count }} notes</p>
""",
    keep_trailing_newline=True,
)


class Entry:
    def __init__(self, version, text, labels):
        self.version = version
        self.text = text
        self.labels = labels

    @property
    def kind(self):
        return self.text.split(":")[0]


def parse(notes):
    for line in notes.strip().splitlines():
        version, text, words = (part.strip() for part in line.split("|"))
        yield Entry(version, text, {word.lower() for word in words.split()})


def by_release(entries):
    table = defaultdict(list)
    for entry in entries:
        table[entry.version].append(entry)
    return sorted(table.items(), key=lambda pair: [int(part) for part in pair[0].split(".")], reverse=True)


def statistics(entries):
    counts = defaultdict(int)
    for entry in entries:
        counts[entry.kind] += 1
    return dict(sorted(counts.items()))


def main():
    entries = list(parse(NOTES))
    print("notes by kind:", statistics(entries))
    html = PAGE.render(title="Spooler", releases=by_release(entries), count=len(entries))
    minified = re.sub(r">\s+<", "><", html)
    print("page of", len(minified), "characters")
    print("etag", hashlib.sha1(minified.encode()).hexdigest()[:12])


if __name__ == "__main__":
    main()
