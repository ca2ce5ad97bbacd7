#!/usr/bin/env python3
"""Facts for value_sets.dl: a generated binary of functions that call each other directly, through registers and through
pointers in memory, with jump tables. Addresses need words of 64 bits.

  bench/analyses/value_facts.py FOLDER [FUNCTIONS, 300]
"""
import os
import random
import sys

CODE, DATA = 0x7f1200000000, 0x7f8800000000
REGISTERS = ['rax', 'rbx', 'rcx', 'rdx', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13']
PARAMETERS = ['rdi', 'rsi', 'rdx']


class Binary:
    def __init__(self, functions):
        self.draw = random.Random(functions)
        self.facts = {name: [] for name in ('entry', 'op', 'dest', 'source', 'base', 'displacement', 'constant', 'target',
                                            'stack_change', 'data', 'table', 'landing', 'parameter')}
        self.facts['parameter'] = [(register,) for register in PARAMETERS]
        self.next, self.data = CODE, DATA
        shapes = [self.draw.randint(3, 8) for _ in range(functions)]
        # Each instruction has 4 bytes and each block 12 instructions, so addresses are known before the code.
        self.starts = [CODE + 0x1000 * function for function in range(functions)]
        self.own, self.pointers = None, []
        for start in self.starts:
            self.pointers.append(self.word(start))
        for function, blocks in enumerate(shapes):
            self.function(function, blocks)
        self.facts['entry'] = [(start,) for start in self.starts[::3]]

    def word(self, value):
        self.facts['data'].append((self.data, value))
        self.data += 8
        return self.data - 8

    def instruction(self, kind, **operands):
        self.facts['op'].append((self.next, 4, kind))
        for name, value in operands.items():
            self.facts[name].append((self.next, value))
        self.next += 4

    def register(self):  # prefers the first registers
        return REGISTERS[min(self.draw.randrange(len(REGISTERS)), self.draw.randrange(len(REGISTERS)))]

    def plain(self):
        draw = self.draw
        kind = draw.choices(['mov_const', 'mov_reg', 'add_const', 'load', 'store', 'lea_stack', 'push', 'pop', 'other'],
                            [4, 4, 2, 3, 3, 1, 1, 1, 4])[0]
        if kind in ('push', 'pop'):
            self.instruction('other', stack_change=-8 if kind == 'push' else 8)
        elif kind == 'mov_const':
            value = draw.choice([draw.randrange(64), draw.randrange(64), self.own])
            self.instruction(kind, dest=self.register(), constant=value)
        elif kind == 'mov_reg':
            self.instruction(kind, dest=self.register(), source=self.register())
        elif kind == 'add_const':
            register = self.register()
            self.instruction(kind, dest=register, source=register, constant=draw.choice([-8, 8, 16]))
        elif kind in ('load', 'store'):
            base = draw.choice(['rsp'] * 5 + ['r9'] * 4 + ['r8'])
            if base == 'r9':  # the function's data
                self.instruction('mov_const', dest=base, constant=self.own)
            operand = {'dest' if kind == 'load' else 'source': self.register()}
            self.instruction(kind, base=base, displacement=8 * draw.randrange(4), **operand)
        elif kind == 'lea_stack':
            self.instruction(kind, dest=self.register(), constant=8 * draw.randrange(4))
        else:
            self.instruction(kind)

    def call_through_register(self, register):
        if self.draw.random() < 0.5:
            self.instruction('mov_const', dest=register, constant=self.draw.choice(self.starts))
        else:
            self.instruction('mov_const', dest='rbx', constant=self.draw.choice(self.pointers))
            self.instruction('load', dest=register, base='rbx', displacement=0)
        self.instruction('call_reg', source=register)

    def jump_through_table(self, blocks):
        places = [self.word(self.draw.choice(blocks)) for _ in range(self.draw.randint(2, 5))]
        self.word(0)
        self.facts['table'].append((places[0],))
        self.instruction('mov_const', dest='r10', constant=places[0])
        self.instruction('load', dest='r11', base='r10', displacement=0)
        self.instruction('jump_reg', source='r11')

    def function(self, number, count):
        draw = self.draw
        self.own = self.word(0)
        for _ in range(3):
            self.word(draw.randrange(64))
        blocks = [self.starts[number] + 0x40 * block for block in range(count)]
        for block, start in enumerate(blocks):
            self.next = start
            self.facts['landing'].append((start,))
            for _ in range(draw.randint(3, 9)):
                self.plain()
            end = 'ret' if block == count - 1 else draw.choices(['jump', 'branch', 'call', 'call_reg', 'jump_reg'],
                                                                [2, 4, 3, 1, 1])[0]
            if end == 'call':
                for register in PARAMETERS:
                    self.instruction('mov_const', dest=register, constant=draw.choice([draw.randrange(8), self.own]))
                near = min(len(self.starts) - 1, number + draw.randrange(12))
                self.instruction('call', target=self.starts[near])
            elif end == 'call_reg':
                self.call_through_register('r12')
            elif end == 'jump_reg':
                self.jump_through_table(blocks[block:] + blocks[-1:])
            elif end == 'ret':
                self.instruction('ret')
            elif end == 'branch':
                self.instruction('branch', target=draw.choice(blocks))
            if end in ('jump', 'branch', 'call', 'call_reg'):  # the next block begins at a new address
                self.instruction('jump', target=blocks[min(count - 1, block + draw.choice([1, 1, 2]))])


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    facts = Binary(int(sys.argv[2]) if len(sys.argv) > 2 else 300).facts
    for name, rows in facts.items():
        with open(os.path.join(folder, name + '.facts'), 'w', encoding='utf-8') as file:
            file.writelines('\t'.join(map(str, row)) + '\n' for row in rows)


if __name__ == '__main__':
    main()
