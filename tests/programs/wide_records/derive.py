"""Values of a progression, and records of a value and five times as much."""


def results(_facts):
    values = {(k - 40) * 12345678901 for k in range(80)}
    fives = {5 * value for value in values}
    return {
        'r.csv': {'[%d, %d]' % (5 * value, value) for value in values},
        'u.csv': {(value,) for value in values},
        'v.csv': {(value,) for value in fives - values},
    }
