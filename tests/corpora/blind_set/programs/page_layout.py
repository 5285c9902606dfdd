"""A newsletter: paragraphs are broken into lines, lines into pages, and pages get adverts."""

import os
import random
import shutil
import textwrap

WORDS = "the harbour was quiet when ships came in from many countries with grain and wool and letters for people who had waited".split()


class Style:
    """Measures that the rest asks for."""

    margin = 4

    def __init__(self):
        self.width = None
        self.lines = 12

    def measure(self):
        size = shutil.get_terminal_size(fallback=(72, 24))  # guilty
        self.width = min(100, size.columns) - 2 * self.margin
        return self


class Page:
    def __init__(self, number):
        self.number = number
        self.lines = []
        self.advert = ""

    def full(self, style):
        return len(self.lines) >= style.lines


class Press:
    def __init__(self, style):
        self.style = style
        self.pages = [Page(1)]

    def set(self, paragraph):
        for line in textwrap.wrap(paragraph, self.style.width):
            if self.pages[-1].full(self.style):
                self.pages.append(Page(len(self.pages) + 1))
            self.pages[-1].lines.append(line)

    def sell(self, rng, adverts):
        for page in self.pages:  # innocent
            room = self.style.lines - len(page.lines)
            page.advert = rng.choice(adverts) if room or page.number % 2 else ""


def paragraph(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def main():
    rng, prices = random.Random(14), random.Random(15)
    texts = [paragraph(rng, rng.randrange(30, 90)) for _ in range(14)]
    press = Press(Style().measure())
    print("paragraphs", len(texts), "letters", sum(map(len, texts)))
    print("words", len({word for text in texts for word in text.lower().rstrip(".").split()}))  # innocent
    print("colour", "yes" if os.environ.get("NEWSLETTER_COLOUR_UNSET") else "no")  # innocent
    for text in texts:
        press.set(text)
    press.sell(prices, ["soap", "tea", "bicycles", "boots"])
    for day in range(5):
        print(f"proof {day}: read in {20 + 3 * day} minutes")
    print("pages", len(press.pages), "last has", len(press.pages[-1].lines), "lines")
    print("adverts", " ".join(page.advert or "-" for page in press.pages))
    print("first line ends with", press.pages[0].lines[0].split()[-1])


if __name__ == "__main__":
    main()
