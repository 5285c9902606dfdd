"""Wraps subtitles for a narrow screen and computes how long each line must stand.

The transcript lies beside this file; it was exported by an editor.
"""
import os
import textwrap
from itertools import accumulate

HERE = os.path.dirname(os.path.abspath(__file__))
CHARS_PER_SECOND = 14


class Cue:
    def __init__(self, speaker, text):
        self.speaker = speaker
        self.text = text

    def lines(self, width):
        return textwrap.wrap(self.text, width)

    def seconds(self):
        return max(1.2, round(len(self.text) / CHARS_PER_SECOND, 2))


class Transcript:
    def __init__(self, cues):
        self.cues = cues

    @classmethod
    def read(cls, path):
        cues = []
        with open(path, errors="surrogateescape") as lines:
            for line in lines:
                speaker, _, text = line.strip().partition(": ")
                if text:
                    cues.append(Cue(speaker, text))
        return cls(cues)

    def speakers(self):
        table = {}
        for cue in self.cues:
            table[cue.speaker] = table.get(cue.speaker, 0) + 1
        return table

    def timeline(self):
        """When each cue ends."""
        return list(accumulate(cue.seconds() for cue in self.cues))


def overlong(transcript, width, rows):
    return [number for number, cue in enumerate(transcript.cues) if len(cue.lines(width)) > rows]


def histogram(values, step):
    bins = {}
    for value in values:
        bins[int(value // step)] = bins.get(int(value // step), 0) + 1
    return sorted(bins.items())


def main():
    transcript = Transcript.read(os.path.join(HERE, "subtitle_wrap_transcript.txt"))
    print("cues:", len(transcript.cues), "speakers:", len(transcript.speakers()))
    print("most talkative:", max(transcript.speakers().values()))
    print("overlong at 24 columns:", overlong(transcript, 24, 2))
    print("reading time: %.2f s" % transcript.timeline()[-1])
    for low, count in histogram((cue.seconds() for cue in transcript.cues), 1.0):
        print(f"  {low}-{low + 1} s: {'#' * count}")


if __name__ == "__main__":
    main()
