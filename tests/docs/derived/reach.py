"""The number of pairs of crossings, by a breadth-first search from each."""
import gzip
import os


def results(_, folder):
    following = {}
    with gzip.open(os.path.join(folder, 'edge.facts.gz'), 'rt') as file:
        for line in file:
            x, y = line.split()
            following.setdefault(x, set()).add(y)
    pairs = 0
    for start in following:
        seen, waiting = set(), [start]
        while waiting:
            for y in following.get(waiting.pop(), ()):
                if y not in seen:
                    seen.add(y)
                    waiting.append(y)
        pairs += len(seen)
    return {'stdout': {'reach\t%d' % pairs}}
