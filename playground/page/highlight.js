'use strict';

const tokenPattern = new RegExp([
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|^#[^\n]*)/m.source,
  /(?<string>"(?:\\[\s\S]|[^"\\\n])*"?)/.source,
  /(?<directive>\.(?:decl|input|output|printsize|type|comp|init|functor|include|once|pragma|plan|override|limitsize|lattice)\b)/.source,
  /(?<type>\b(?:number|unsigned|float|symbol|nil|count|sum|min|max|mean|range)\b)/.source,
  /(?<relation>\b[A-Za-z_?][\w?.]*(?=\s*\())/.source,
  /(?<number>\b(?:0x[0-9a-fA-F]+|0b[01]+|\d+(?:\.\d+)?)u?\b)/.source,
  /(?<word>[A-Za-z_?][\w?]*)/.source,
].join('|'), 'gm');

/** Returns [text, class] pairs that together are the program. */
function tokensOf(program) {
  const tokens = [];
  let end = 0;
  for (const match of program.matchAll(tokenPattern)) {
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    if (match.index > end) tokens.push([program.slice(end, match.index), '']);
    tokens.push([match[0], kind === 'word' ? '' : kind]);
    end = match.index + match[0].length;
  }
  if (end < program.length) tokens.push([program.slice(end), '']);
  return tokens;
}

/** Shows the program in an element; marks are {begin, end, level} by position, in order and disjoint. */
function showTokens(element, tokens, marks) {
  const parts = document.createDocumentFragment();
  let begin = 0;
  let next = 0;
  for (const [text, kind] of tokens) {
    const cuts = [0];
    while (next < marks.length && marks[next].end <= begin) ++next;
    const here = [];
    for (let i = next; i < marks.length && marks[i].begin < begin + text.length; ++i) here.push(marks[i]);
    for (const mark of here) cuts.push(Math.max(0, mark.begin - begin), Math.min(text.length, mark.end - begin));
    cuts.push(text.length);
    for (let i = 0; i + 1 < cuts.length; ++i) {
      if (cuts[i] === cuts[i + 1]) continue;
      const span = document.createElement('span');
      span.textContent = text.slice(cuts[i], cuts[i + 1]);
      const mark = here.find((one) => one.begin <= begin + cuts[i] && begin + cuts[i + 1] <= one.end);
      span.className = [kind, mark ? mark.level + '-mark' : ''].join(' ').trim();
      parts.append(span);
    }
    begin += text.length;
  }
  parts.append('\n');
  element.replaceChildren(parts);
}
