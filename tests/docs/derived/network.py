"""By sending each packet through tables of Python's ipaddress."""
import ipaddress


def results(facts, _):
    def ip(*parts):
        return ipaddress.ip_address('.'.join(parts))

    interfaces = {(d, i): ipaddress.ip_interface('%s.%s.%s.%s/%s' % (a, b, c, e, n))
                  for d, i, a, b, c, e, n in facts('interface')}
    wires = {}
    for d, i, e, j in facts('link'):
        wires[d, i], wires[e, j] = (e, j), (d, i)
    tables = {}
    for d, a, b, c, e, n, out in facts('route'):
        tables.setdefault(d, set()).add((ipaddress.ip_network('%s.%s.%s.%s/%s' % (a, b, c, e, n)), out))
    for (d, i), address in interfaces.items():
        tables.setdefault(d, set()).add((address.network, i))
    own = {}
    for (d, _), address in interfaces.items():
        own.setdefault(d, set()).add(address.ip)
    hosts = {h for h, in facts('host')}
    targets = {(h, address) for h in hosts for address in own[h]}

    def following(d, address):
        fitting = [(network.prefixlen, out) for network, out in tables.get(d, ()) if address in network]
        longest = max(fitting)[0] if fitting else None
        return {wires[d, out] for n, out in fitting if n == longest and (d, out) in wires}

    def networks(d):
        return [address.network for (e, _), address in interfaces.items() if e == d]

    def denied(start, address, d, i):
        return any((d, i) == (e, j) and any(a in n for n in networks(f) for a in own[start])
                   and any(address in n for n in networks(t)) for e, j, f, t in facts('deny'))

    def visited(starts, address, allowed):
        seen, waiting = set(starts), list(starts)
        while waiting:
            d = waiting.pop()
            if address in own[d]:
                continue
            for e, i in following(d, address):
                if e not in seen and allowed(e, i):
                    seen.add(e)
                    waiting.append(e)
        return seen

    reaches = set()
    for start in hosts:
        for other, address in targets:
            if start != other:
                seen = visited([start], address, lambda e, i: not denied(start, address, e, i))
                reaches |= {(start, h) for h, a in targets if a == address and h in seen and h != start}
    problems = {('the same address', d, e) for d in own for e in own if d < e and own[d] & own[e]}
    for d, i, e, j in facts('link'):
        if interfaces[d, i].network != interfaces[e, j].network:
            problems.add(('a link between two networks', d, e))
    for h, address in targets:
        for d in own:
            if address not in own[d] and d in visited([e for e, _ in following(d, address)], address, lambda *_: True):
                problems.add(('packets go in a circle, to', d, h))
    for start, goal in facts('must_reach'):
        if (start, goal) not in reaches:
            problems.add(('is not reached from', goal, start))
        elif (goal, start) not in reaches:
            problems.add(('has no way back to', goal, start))
    problems |= {('must not be reached from', goal, start) for start, goal in facts('must_not_reach')
                 if (start, goal) in reaches}
    return {'reaches.csv': reaches, 'problem.csv': problems}
