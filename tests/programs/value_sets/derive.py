"""By plain loops over sets until nothing is new, and by other relations than the program's: control flow and definitions are
found anew for what is reached so far, as a compiler's textbook has it."""


ENDS = {'jump', 'branch', 'jump_reg', 'call', 'call_reg', 'ret'}
STOPS = {'jump', 'jump_reg', 'ret'}
CALLS = {'call', 'call_reg'}


def closure(found, edges):
    found, waiting = set(found), list(found)
    while waiting:
        block = waiting.pop()
        for b, c in edges:
            if b == block and c not in found:
                found.add(c)
                waiting.append(c)
    return found


def reach(op, target, entries, jumps, calls):
    """@return instructions of each block that is reached, edges between blocks"""
    blocks, edges, waiting = {}, set(), sorted(entries)
    while waiting:
        start = waiting.pop()
        if start in blocks:
            continue
        block = [start]
        while op[block[-1]][1] not in ENDS:
            block.append(block[-1] + op[block[-1]][0])
        blocks[start] = block
        last, (size, kind) = block[-1], op[block[-1]]
        after = {t for e, t in jumps if e == last} | ({target[last]} if kind in ('jump', 'branch') else set())
        after |= set() if kind in STOPS else {last + size}
        edges |= {(start, c) for c in after}
        waiting += sorted(after | {f for e, f in calls if e == last} | ({target[last]} if kind == 'call' else set()))
    return blocks, edges


def heights_by_block(blocks, edges, functions, op, stack_change):
    found, waiting = set(), [(f, f, 0) for f in functions]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        b, ea, height = one
        if ea == blocks[b][-1]:
            waiting += [(c, c, height) for before, c in edges if before == b]
            continue
        after = height + stack_change.get(ea, 0)
        if ea not in stack_change or -40 < after <= 0:
            waiting.append((b, ea + op[ea][0], after))
    return found


def stack_heights(*arguments):
    found = {}
    for _, ea, height in heights_by_block(*arguments):
        found.setdefault(ea, set()).add(height)
    return found


def definitions(blocks, edges, op, dest, calls):
    """@return registers and definitions that reach an instruction, by block and instruction"""
    called = {ea for ea, _ in calls}
    into = {b: set() for b in blocks}
    while True:
        reaching, out = {}, {}
        for b, block in blocks.items():
            present = set(into[b])
            for ea in block:
                reaching[b, ea] = set(present)
                killed = {dest.get(ea)} | ({'rax'} if op[ea][1] in CALLS else set())
                present = {(r, d) for r, d in present if r not in killed}
                if ea in dest:
                    present.add((dest[ea], ea))
                if ea in called:
                    present.add(('rax', ea))
            out[b] = present
        after = {b: into[b].union(*(out[a] for a, c in edges if c == b)) for b in blocks}
        if after == into:
            return reaching
        into = after


def results(facts):
    op = {ea: (size, kind) for ea, size, kind in facts('op', int, int, str)}
    dest, source, base = dict(facts('dest', int, str)), dict(facts('source', int, str)), dict(facts('base', int, str))
    displacement, constant = dict(facts('displacement', int, int)), dict(facts('constant', int, int))
    target, stack_change = dict(facts('target', int, int)), dict(facts('stack_change', int, int))
    data, tables = dict(facts('data', int, int)), {ea for (ea,) in facts('table', int)}
    landings = {ea for (ea,) in facts('landing', int)}
    parameters = {register for (register,) in facts('parameter')}
    entries = {ea for (ea,) in facts('entry', int)}

    jumps, calls, arguments, returned, memory = set(), set(), set(), set(), set()
    values = {}  # by definition and register
    while True:
        before = (len(jumps), len(calls), len(arguments), len(returned), len(memory), sum(map(len, values.values())))
        blocks, edges = reach(op, target, entries, jumps, calls)
        functions = entries | {f for _, f in calls}
        heights = stack_heights(blocks, edges, functions, op, stack_change)
        reaching = definitions(blocks, edges, op, dest, calls)
        starts_in = {}
        for f in functions:
            for ea in blocks[f]:
                starts_in.setdefault(ea, set()).add(f)
        at = {}  # definitions before an instruction, by register, in any block
        for (_, ea), found in reaching.items():
            for register, definition in found:
                at.setdefault((ea, register), set()).add(definition)

        def used(ea, register):
            if register not in (source.get(ea), base.get(ea)):
                return set()
            found = {v for d in at.get((ea, register), ()) for v in values.get((d, register), ())}
            return found | {v for f, r, v in arguments if r == register and f in starts_in.get(ea, ())}

        def give(ea, register, found):
            values.setdefault((ea, register), set()).update(found)
        for ea in {ea for block in blocks.values() for ea in block}:
            kind, from_source = op[ea][1], used(ea, source.get(ea))
            places = {(g, o + displacement[ea], 0) for g, o, _ in used(ea, base.get(ea))} if ea in displacement else set()
            if base.get(ea) == 'rsp' and ea in displacement:
                places |= {('stack', h + displacement[ea], 0) for h in heights.get(ea, ())}
            if kind == 'mov_const':
                give(ea, dest[ea], {('', constant[ea], 0)})
            elif kind == 'lea_stack':
                give(ea, dest[ea], {('stack', h + constant[ea], 0) for h in heights.get(ea, ())})
            elif kind == 'mov_reg':
                give(ea, dest[ea], from_source)
            elif kind == 'add_const':
                give(ea, dest[ea], {(g, o + constant[ea], n + 1) for g, o, n in from_source if n < 2})
            elif kind == 'load':
                found = {v for a, v in memory if a in places}
                for region, offset, _ in places:
                    in_tables = set()
                    if region:
                        continue
                    if offset in data:
                        found.add(('', data[offset], 0))
                    while offset in tables or offset in in_tables:
                        found.add(('', data[offset], 0))
                        if data[offset] not in landings or offset + 8 not in data:
                            break
                        offset += 8
                        in_tables = {offset}
                give(ea, dest[ea], found)
            elif kind == 'store':
                memory |= {(a, v) for a in places for v in from_source}
            elif kind in ('jump_reg', 'call_reg'):
                to = {(ea, o) for g, o, _ in from_source if g == '' and o in landings}
                (jumps if kind == 'jump_reg' else calls).update(to)
            elif kind == 'call':
                calls.add((ea, target[ea]))
            elif kind in ('jump', 'branch'):
                jumps.add((ea, target[ea]))
        for ea, f in calls:
            for register in parameters:
                for d in at.get((ea, register), ()):
                    arguments |= {(f, register, v) for v in values.get((d, register), ())}
        for f in functions:
            for b in closure({f}, edges):
                last = blocks[b][-1]
                if op[last][1] == 'ret':
                    for d in at.get((last, 'rax'), ()):
                        returned |= {(f, v) for v in values.get((d, 'rax'), ())}
        called_by = {}
        for b, block in blocks.items():
            for ea, f in calls:
                if ea == block[-1]:
                    called_by.setdefault(ea, set()).add(f)
        for ea, found in called_by.items():
            give(ea, 'rax', {v for f, v in returned if f in found})
        if before == (len(jumps), len(calls), len(arguments), len(returned), len(memory), sum(map(len, values.values()))):
            break

    def uses(ea):
        return {r for r in (source.get(ea), base.get(ea)) if r is not None}
    code = {ea for block in blocks.values() for ea in block}
    chains = {(d, ea, r) for (ea, r), found in at.items() if r in uses(ea) for d in found}
    at_use = {(ea, r, v) for ea in code for r in uses(ea) for v in used(ea, r)}
    sizes = [('code', code), ('in_block', [1 for block in blocks.values() for _ in block]), ('edge', edges),
             ('reaches', [1 for found in reaching.values() for _ in found]), ('def_use', chains),
             ('stack_at', heights_by_block(blocks, edges, functions, op, stack_change)),
             ('value', [1 for found in values.values() for _ in found]), ('used_value', at_use), ('stored', memory),
             ('transfers', jumps), ('calls', calls), ('argument', arguments), ('returned', returned)]
    return {'stdout': {'%s\t%d' % (name, len(rows)) for name, rows in sizes},
            'value_text.csv': {(d, r, g, o) for (d, r), found in values.items() for g, o, _ in found},
            'transfers.csv': jumps, 'calls.csv': calls, 'def_use.csv': chains}
