"""By repeating plain loops over sets until nothing changes."""


def compose(left, right):
    starts = {}
    for x, y in right:
        starts.setdefault(x, set()).add(y)
    return {(x, z) for x, y in left for z in starts.get(y, ())}


def inverse(pairs):
    return {(y, x) for x, y in pairs}


def results(facts, _):
    assign, dereference = facts('assign'), facts('dereference')
    places = {(x, x) for pair in assign for x in pair}
    flow, alias, memory = set(), set(), set()
    while True:
        before = len(flow), len(alias), len(memory)
        flow |= assign | places | compose(flow, flow) | compose(assign, memory)
        alias |= compose(inverse(flow), flow) | compose(compose(inverse(flow), memory), flow)
        memory |= places | compose(compose(inverse(dereference), alias), dereference)
        if before == (len(flow), len(alias), len(memory)):
            break
    return {
        'same_place.csv': {(x, y) for x, y in memory if x < y},
        'reaches.csv': {(x, y) for x, y in flow if x != y and '*' not in x and '*' not in y},
        'stdout': {('value_flow', len(flow)), ('value_alias', len(alias)), ('memory_alias', len(memory))},
    }
