'use strict';

const examples = [
  {
    name: 'Reachability',
    program: `// Which towns can be reached from each other?
.decl edge(from: symbol, to: symbol)
.input edge
.decl reach(from: symbol, to: symbol)
.output reach

reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
`,
    files: {'edge.facts': 'Bonn\tKoeln\nKoeln\tEssen\nEssen\tBochum\nBochum\tEssen\n'},
  },
  {
    name: 'Same generation',
    program: `.decl parent(child: symbol, parent: symbol)
parent("Ada", "Bert"). parent("Carl", "Bert"). parent("Dora", "Carl"). parent("Emil", "Ada"). parent("Bert", "Fritz").

.decl person(name: symbol)
person(x) :- parent(x, _).
person(x) :- parent(_, x).

.decl same_generation(x: symbol, y: symbol)
.output same_generation
same_generation(x, x) :- person(x).
same_generation(x, y) :- parent(x, p), same_generation(p, q), parent(y, q).
`,
    files: {},
  },
  {
    name: 'Shortest paths',
    program: `.decl road(from: number, to: number, length: number)
.input road
.decl distance(from: number, to: number, length: number)
.output distance

// Subsumption keeps the shortest distance.
distance(x, y, l) :- road(x, y, l).
distance(x, z, l + m) :- distance(x, y, l), road(y, z, m).
distance(x, y, longer) <= distance(x, y, shorter) :- shorter <= longer.
`,
    files: {'road.facts': '1\t2\t7\n1\t3\t2\n3\t2\t3\n2\t4\t1\n4\t1\t5\n'},
  },
  {
    name: 'Points-to analysis',
    program: `.decl new(variable: symbol, object: symbol)
.decl assign(to: symbol, from: symbol)
.decl load(to: symbol, base: symbol, field: symbol)
.decl store(base: symbol, field: symbol, from: symbol)
.input new
.input assign
.input load
.input store

.decl points_to(variable: symbol, object: symbol)
.decl heap(object: symbol, field: symbol, target: symbol)
.output points_to
.output heap

points_to(v, o) :- new(v, o).
points_to(v, o) :- assign(v, w), points_to(w, o).
points_to(v, o) :- load(v, b, f), points_to(b, h), heap(h, f, o).
heap(h, f, o) :- store(b, f, v), points_to(b, h), points_to(v, o).
`,
    files: {
      'new.facts': 'a\tobject1\nb\tobject2\n',
      'assign.facts': 'c\ta\n',
      'store.facts': 'c\tnext\tb\n',
      'load.facts': 'd\ta\tnext\n',
    },
  },
  {
    name: 'Aggregates and texts',
    program: `.decl sale(shop: symbol, amount: number)
sale("north", 12). sale("north", 30). sale("south", 7).

.decl total(shop: symbol, amount: number, text: symbol)
.output total
total(shop, s, cat(shop, cat(" sold ", to_string(s)))) :- sale(shop, _), s = sum a : { sale(shop, a) }.
`,
    files: {},
  },
];
