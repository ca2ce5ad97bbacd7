"""The expected results of program.dl, computed stratum by stratum with dictionaries and loops."""
import re
import struct


def shown(value):
    """A float as nine digits of what single precision keeps."""
    return '%.9g' % struct.unpack('f', struct.pack('f', value))


def closure(found, step):
    waiting = list(found)
    while waiting:
        for new in step(waiting.pop()):
            if new not in found:
                found.add(new)
                waiting.append(new)
    return found


def results(facts):
    decoded = {ea: (size, text) for ea, size, text in facts('decoded', int, int, str)}
    sections = facts('section', str, int, int, str)
    symbols = facts('symbol_at', int, str, str)
    relocations = facts('relocation', int, int)

    parts = {}
    for ea, (size, text) in decoded.items():
        name, _, rest = text.partition(' ')
        parts[ea] = (size, name, rest, rest.split(', ') if rest else [])
    executable = {ea for ea in decoded for _, begin, end, flags in sections if 'x' in flags and begin <= ea < end}
    after = {ea: ea + size for ea, (size, _, _, _) in parts.items()}
    falls = {ea for ea, (_, m, _, _) in parts.items() if m not in ('JMP', 'RET', 'HLT') and not re.fullmatch('UD[0-9]', m)}
    target = {ea: int(ops[0], 0) for ea, (_, _, _, ops) in parts.items()
              if ops and re.fullmatch('0x[0-9a-f]+|[0-9]+', ops[0])}
    jumps = {ea: to for ea, to in target.items()
             if parts[ea][1] == 'JMP' or re.fullmatch('J[A-LN-Z][A-Z]?', parts[ea][1])}
    calls = {ea: to for ea, to in target.items() if parts[ea][1] == 'CALL'}

    wrong = {ea for ea in parts if ea not in executable}
    wrong |= {ea for ea in falls if after[ea] not in decoded}
    wrong |= {ea for ea, to in list(jumps.items()) + list(calls.items()) if to not in executable}
    invalid = closure(wrong, lambda bad: [ea for ea in parts if (ea in falls and after[ea] == bad) or jumps.get(ea) == bad])
    possible = set(parts) - invalid

    entry = int(dict(facts('option', file_name='options.csv', delimiter='='))['entry'], 0)
    why = {(entry, 'entry')} | {(ea, 'symbol') for ea, _, kind in symbols if kind == 'FUNC'}
    why |= {(to, 'call from %d' % ea) for ea, to in calls.items() if ea in possible}
    why |= {(to, 'jump from %d' % ea) for ea, to in jumps.items() if ea in possible}
    why |= {(to, 'relocation') for _, to in relocations if to in executable}
    why |= {(after[ea], 'after call') for ea in calls if ea in possible}
    targets = {ea for ea, _ in why}

    def extent(block):
        ea, found = block, [block]
        while ea in falls and ea not in jumps and ea not in calls and after[ea] in possible and after[ea] not in targets:
            ea = after[ea]
            found.append(ea)
        return found
    inside = {}
    waiting = [ea for ea in targets if ea in possible]
    while waiting:
        block = waiting.pop()
        if block in inside:
            continue
        inside[block] = extent(block)
        waiting += [after[ea] for ea in inside[block] if ea in jumps and ea in falls and after[ea] in possible]
    end = {b: max(after[ea] for ea in eas) for b, eas in inside.items()}

    def includes(a, b):
        return a != b and b in inside[a]
    overlaps = {(a, b) for a in inside for b in inside
                if a != b and a < end[b] and b < end[a] and not includes(a, b) and not includes(b, a)}

    def total(b):
        kinds = [w for ea, w in why if ea == b]
        names = [parts[ea][1] for ea in inside[b]]
        found = 20 * ('entry' in kinds) + 10 * ('symbol' in kinds) + 4 * ('relocation' in kinds) + 3 * (b % 16 == 0)
        found += 2 * len([w for w in kinds if w.startswith('call from ')])
        found += len([w for w in kinds if w.startswith('jump from ')])
        found -= 5 * (names.count('NOP') > 1)
        found -= 2 * len([n for n in names if n in ('IN', 'OUT', 'HLT', 'CLI')])
        return found + ((end[b] - b) // 4 if end[b] - b >= 4 else 0)
    totals = {b: total(b) for b in inside}
    discarded = {(a, b) for a, b in overlaps if (totals[a], -a) < (totals[b], -b)}
    code = set(inside) - {a for a, _ in discarded}
    by_code = {a for a, b in discarded if b in code}
    unresolved = {a for a, b in discarded if b not in code and a not in by_code}

    in_code = {(ea, b) for b in code for ea in inside[b]}
    covered_by = {}
    for ea, b in in_code:
        covered_by.setdefault(ea, set()).add(b)
    entries = {b for b in code if (b, 'entry') in why or (b, 'symbol') in why
               or any(to == b and ea in covered_by for ea, to in calls.items())}
    edges = {(b, jumps[ea], 'jump') for ea, b in in_code if jumps.get(ea) in code}
    edges |= {(b, after[ea], 'fall') for ea, b in in_code
              if ea in falls and after[ea] in code and (after[ea], b) not in in_code}
    names = {(f, name) for f in entries for ea, name, kind in symbols if ea == f and kind == 'FUNC'}
    names |= {(f, 'FUN_%d' % f) for f in entries if not any(ea == f and kind == 'FUNC' for ea, _, kind in symbols)}
    summary = set()
    for f, name in names:
        blocks = closure({f}, lambda a: [b for x, b, _ in edges if x == a and b not in entries])
        placed = [ea for b in blocks for ea in inside[b]]
        summary.add((name, len(blocks), len(placed), sum(parts[ea][0] for ea in placed),
                     len([ea for ea in placed if ea in calls]), max(end[b] for b in blocks)))

    covered = {x for b in code for x in range(b, end[b])}
    sizes = [parts[ea][0] for ea in covered_by]
    return {
        'code_block.csv': {(b,) for b in code},
        'discarded.csv': discarded,
        'unresolved.csv': {(a,) for a in unresolved},
        'edge.csv': edges,
        'summary.csv': summary,
        'total.csv': set(totals.items()),
        'mean_size.csv': {(shown(sum(sizes) / len(sizes)),)},
        'listing.tsv': {('ea', 'text')} | {(ea, '%s %s' % (m, rest) if rest else m)
                                           for ea in covered_by for _, m, rest, _ in [parts[ea]]},
        'gap.csv': {(ea,) for ea in executable - covered},
        'stdout': {('invalid', len(invalid)), ('overlap', len(overlaps)),
                   ('operand', sum(min(len(ops), 2) for _, _, _, ops in parts.values()))},
    }
