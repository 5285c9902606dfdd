"""Timetable of examinations: courses that share students must not be held in the same slot."""

import random
from collections import Counter

import networkx as nx

COURSES = ["algebra", "botany", "chemistry", "drama", "ethics", "french", "geology", "history", "italian", "jazz",
           "korean", "latin", "music", "nautics", "optics", "physics", "quilting", "rhetoric"]
ROOMS = {"aula": 60, "north": 40, "south": 40, "attic": 25}


def enrol(students):
    """Who takes what: popular courses more often."""
    choices = {}
    for student in range(students):
        size = random.randrange(1, 4)
        picked = set()
        while len(picked) < size:
            picked.add(COURSES[min(random.randrange(len(COURSES)), random.randrange(len(COURSES)))])
        choices[student] = picked
    return choices


def conflicts(choices):
    graph = nx.Graph()
    graph.add_nodes_from(COURSES)
    for picked in choices.values():
        ordered = sorted(picked)
        for i, one in enumerate(ordered):
            for other in ordered[i + 1:]:
                weight = graph.get_edge_data(one, other, {"weight": 0})["weight"]
                graph.add_edge(one, other, weight=weight + 1)
    return graph


def thin_out(graph, limit):
    """A single student or two can sit a second paper; that is no conflict."""
    weak = [(a, b) for a, b, w in graph.edges(data="weight") if w <= limit]
    graph.remove_edges_from(weak)
    return len(weak)


class Timetable:
    def __init__(self, graph, sizes):
        self.sizes = sizes
        self.slots = nx.greedy_color(graph, strategy="independent_set")

    def days(self):
        return 1 + max(self.slots.values()) // 2

    def seat(self):
        """Largest course into the largest room, slot by slot."""
        plan = {}
        for slot in sorted(set(self.slots.values())):
            free = dict(ROOMS)
            for course in sorted((c for c, s in self.slots.items() if s == slot), key=lambda c: (-self.sizes[c], c)):
                room = max(free, key=lambda r: (free[r], r), default=None)
                plan[course] = (slot, room or "gym")
                free.pop(room, None)
        return plan


def clusters(graph):
    groups = [sorted(group) for group in nx.connected_components(graph)]
    return sorted(groups, key=lambda group: (-len(group), group))


def main():
    choices = enrol(70)
    sizes = Counter(course for picked in choices.values() for course in picked)
    graph = conflicts(choices)
    print(f"{graph.number_of_nodes()} courses, {graph.number_of_edges()} pairs with common students")
    print(f"{thin_out(graph, 1)} pairs are let through")
    print("largest group:", " ".join(clusters(graph)[0][:6]))
    busiest = max(graph.degree, key=lambda item: (item[1], item[0]))
    print(f"most conflicts: {busiest[0]} ({busiest[1]})")
    timetable = Timetable(graph, sizes)
    plan = timetable.seat()
    print(f"{timetable.days()} days")
    for course in COURSES:
        slot, room = plan[course]
        print(f"{course:<10} {sizes[course]:>3}  slot {slot}  {room}")


main()
