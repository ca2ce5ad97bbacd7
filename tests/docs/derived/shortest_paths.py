"""Dijkstra's algorithm, and all drives without repeated towns for the choices."""
import heapq

START = 'Linz'


def results(facts, _):
    roads = {}
    for x, y, minutes, euros in facts('road', str, str, int, int):
        roads.setdefault(x, []).append((y, minutes, euros))
        roads.setdefault(y, []).append((x, minutes, euros))
    times, waiting = {}, [(0, START)]
    while waiting:
        minutes, town = heapq.heappop(waiting)
        if town not in times:
            times[town] = minutes
            for other, more, _ in roads[town]:
                heapq.heappush(waiting, (minutes + more, other))

    drives = {}

    def drive(town, minutes, euros, passed):
        drives.setdefault(town, set()).add((minutes, euros))
        for other, more, toll in roads[town]:
            if other not in passed:
                drive(other, minutes + more, euros + toll, passed | {other})

    drive(START, 0, 0, {START})
    best = {(town, *one) for town, found in drives.items() for one in found
            if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in found)}
    return {
        'time_to.csv': set(times.items()),
        'used.csv': {(x, y) for x in times for y, more, _ in roads[x] if times[x] + more == times[y]},
        'unreachable.csv': {(town,) for town in roads if town not in times},
        'choice.csv': best,
    }
