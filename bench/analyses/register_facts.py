#!/usr/bin/env python3
"""Facts for register_offsets.dl: a generated binary of blocks with instructions of 2 to 7 bytes.

  bench/analyses/register_facts.py FOLDER [BLOCKS, 30000] [FIRST ADDRESS, 65536]
"""
import os
import random
import sys


def main():
    folder = sys.argv[1]
    blocks = int(sys.argv[2]) if len(sys.argv) > 2 else 30000
    draw = random.Random(1)
    os.makedirs(folder, exist_ok=True)
    address = int(sys.argv[3]) if len(sys.argv) > 3 else 0x10000
    facts = {'instruction': [], 'in_block': [], 'adjust': [], 'edge': [], 'first': []}
    for block in range(blocks):
        facts['first'].append((block, address))
        for _ in range(draw.randint(4, 14)):
            size = draw.choice([2, 3, 4, 5, 7])
            facts['instruction'].append((address, size))
            facts['in_block'].append((block, address))
            if draw.random() < 0.2:
                facts['adjust'].append((address, draw.randint(0, 3), draw.choice([-16, -8, 8, 16])))
            address += size
        address += 16
        for _ in range(draw.randint(1, 2)):
            facts['edge'].append((block, min(blocks - 1, max(0, block + draw.randint(-2, 6)))))
    for name, rows in facts.items():
        with open(os.path.join(folder, name + '.facts'), 'w') as file:
            file.writelines('\t'.join(map(str, row)) + '\n' for row in rows)


if __name__ == '__main__':
    main()
