"""The expected results of program.dl: data flow on the graph's points, which stay the texts that stand in the facts."""
import itertools
import re


def flow(seeds, successors, passes):
    """All (fact, point) reached from the seeds along the graph while passes(fact, next point)."""
    found, waiting = set(seeds), list(seeds)
    while waiting:
        fact, p = waiting.pop()
        for q in successors.get(p, ()):
            if (fact, q) not in found and passes(fact, q):
                found.add((fact, q))
                waiting.append((fact, q))
    return found


def transitive(pairs):
    found = set(pairs)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


def results(facts):
    edges = facts('cfg_edge')
    points = {p for edge in edges for p in edge}
    after, before = {}, {}
    for p, q in edges:
        after.setdefault(p, set()).add(q)
        before.setdefault(q, set()).add(p)

    below = transitive(facts('child_path'))
    moves, assigns = facts('path_moved_at'), facts('path_assigned_at')
    moved = moves | {(c, p) for x, p in moves for c, above in below if above == x}
    assigned = assigns | {(c, p) for x, p in assigns for c, above in below if above == x}
    maybe_moved = flow(moved, after, lambda x, q: (x, q) not in assigned)
    maybe_initialized = flow(assigned, after, lambda x, q: (x, q) not in moved)
    initialized_on_entry = {(v, q) for x, v in facts('path_is_var') for y, p in maybe_initialized if y == x
                            for q in after.get(p, ())}

    defined = facts('var_defined_at')
    live = flow(facts('var_used_at'), before, lambda v, p: (v, p) not in defined)
    drops = {(v, p) for v, p in facts('var_dropped_at') if (v, p) in initialized_on_entry}
    drop_live = flow(drops, before, lambda v, p: (v, p) not in defined and (v, p) in initialized_on_entry)
    universal = {o for o, in facts('universal_region')}
    origin_live = {(o, p) for o in universal for p in points}
    for uses, living in (('use_of_var_derefs_origin', live), ('drop_of_var_derefs_origin', drop_live)):
        origin_live |= {(o, p) for v, o in facts(uses) for w, p in living if w == v}

    issued, killed = facts('loan_issued_at'), facts('loan_killed_at')
    base = facts('subset_base')
    # Point by point until nothing changes: what comes along the edges, then what follows at the point itself.
    subset = {p: {(a, b) for a, b, q in base if q == p} for p in points}
    holds = {p: {(o, l) for o, l, q in issued if q == p} for p in points}
    changed = True
    while changed:
        changed = False
        for p in points:
            known, loans = set(subset[p]), set(holds[p])
            for q in before.get(p, ()):
                known |= {(a, b) for a, b in subset[q] if (a, p) in origin_live and (b, p) in origin_live}
                loans |= {(o, l) for o, l in holds[q] if (l, q) not in killed and (o, p) in origin_live}
            size = -1
            while size != len(known) + len(loans):
                size = len(known) + len(loans)
                known |= {(a, c) for a, b in known for d, c, q in base if q == p and d == b and a != c}
                loans |= {(b, l) for a, l in loans for c, b in known if c == a}
            if known != subset[p] or loans != holds[p]:
                subset[p], holds[p], changed = known, loans, True
    live_loans = {(l, p) for p in points for o, l in holds[p] if (o, p) in origin_live}

    loose = {(o, l) for o, l, _ in issued}
    reach = transitive({(a, b) for a, b, _ in base})
    loose |= {(b, l) for a, l in loose for c, b in reach if c == a}
    invalid = facts('loan_invalidated_at')
    invalidated = invalid & live_loans
    loose_errors = {(l, p) for l, p in invalid if any((o, p) in origin_live for o, m in loose if m == l)}
    known = transitive(facts('known_subset'))
    wrong = {(a, b, p) for p in points for a, b in subset[p]
             if a in universal and b in universal and a != b and (a, b) not in known}
    accessed = {(x, q) for x, q in facts('path_accessed_at') if any((x, p) in maybe_moved for p in before.get(q, ()))}

    places = {p for _, p in invalidated | accessed} | {p for _, _, p in wrong}
    first = min(tuple(map(int, re.findall(r'\d+', p))) for p in places)
    middles = {p for _, p in live_loans if 'Mid' in p}
    return {
        'error.csv': itertools.chain(('$Invalidated(%s, %s)' % row for row in invalidated),
                                     ('$Moved(%s, %s)' % row for row in accessed),
                                     ('$Subset(%s, %s, %s)' % row for row in wrong)),
        'missed.csv': set(),
        'spurious.csv': loose_errors - invalidated,
        'kinds.csv': {('invalidated', len(invalidated)), ('moved', len(accessed)), ('subset', len(wrong))},
        'at_mid.csv': {(l, len([p for m, p in live_loans if m == l and p in middles])) for _, l, _ in issued},
        'first_error.csv': {first},
        'names.csv': {("'" + o,) for o in universal},
        'subset.csv': {(a, b, p) for p in points for a, b in subset[p]},
        'stdout': {('holds', sum(map(len, holds.values()))), ('loan_live_at', len(live_loans)),
                   ('origin_live_on_entry', len(origin_live))},
    }
