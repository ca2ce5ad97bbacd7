'use strict';

const byId = (id) => document.getElementById(id);
const programName = 'program.dl';
const mostRows = 1000;

/** What a link contains. */
let state = {program: '', files: {}};
let openFile = programName;
let marks = [];
let result = null;
let openView = 'Results';
let proofs = [];

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// ---- program and facts ----------------------------------------------------------------------------------------------

const textOf = (file) => (file === programName ? state.program : state.files[file]);

function setText(file, text) {
  if (file === programName) {
    state.program = text;
  } else {
    state.files[file] = text;
  }
}

function showText() {
  const text = textOf(openFile);
  const isProgram = openFile === programName;
  showTokens(byId('shown'), isProgram ? tokensOf(text) : [[text, '']], isProgram ? marks : []);
  byId('shown').scrollTop = byId('text').scrollTop;
  byId('shown').scrollLeft = byId('text').scrollLeft;
}

function tabs(list, names, chosen, choose) {
  list.replaceChildren(...names.map((name) => {
    const button = element('button', {textContent: name, onclick: () => choose(name)});
    button.setAttribute('role', 'tab');
    button.setAttribute('aria-selected', name === chosen);
    return button;
  }));
}

function showFiles() {
  tabs(byId('files'), [programName, ...Object.keys(state.files)], openFile, open);
  byId('files').append(element('button', {textContent: '+ facts', onclick: addFile}));
  if (openFile !== programName) byId('files').append(element('button', {textContent: 'Remove', onclick: removeFile}));
}

function open(file) {
  openFile = file;
  byId('text').value = textOf(file);
  byId('text').setAttribute('aria-label', file);
  showFiles();
  showText();
}

function addFile() {
  const name = prompt('Name of the file, such as edge.facts');
  if (!name) return;
  if (!(name in state.files)) state.files[name] = '';
  open(name);
}

function removeFile() {
  delete state.files[openFile];
  open(programName);
}

function openState(value) {
  state = {program: String(value.program ?? ''), files: {...value.files}};
  marks = [];
  result = null;
  open(programName);
  checkSoon();
  showView();
}

// ---- diagnostics ----------------------------------------------------------------------------------------------------

/** Returns the offset of a line and a column, which counts bytes of UTF-8. */
function offsetOf(text, line, column) {
  let begin = 0;
  for (let i = 1; i < line; ++i) {
    const end = text.indexOf('\n', begin);
    if (end < 0) return text.length;
    begin = end + 1;
  }
  let bytes = 1;
  let at = begin;
  while (at < text.length && bytes < column) {
    const point = text.codePointAt(at);
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    at += point < 0x10000 ? 1 : 2;
  }
  return at;
}

function showProblems(list) {
  marks = [];
  const text = state.program;
  const items = [];
  for (const one of list) {
    const begin = one.line ? offsetOf(text, one.line, one.column) : 0;
    if (one.line) {
      const word = /^(?:[\w?]+|[^\n])/.exec(text.slice(begin));
      marks.push({begin, end: begin + (word ? word[0].length : 0), level: one.level});
    }
    const place = one.line ? `${one.line}:${one.column}: ` : '';
    const button = element('button', {className: one.level, textContent: `${place}${one.level}: ${one.message}`, onclick: () => {
      open(programName);
      byId('text').focus();
      byId('text').setSelectionRange(begin, begin);
    }});
    button.title = one.text;
    items.push(element('li', {}, button));
  }
  marks.sort((a, b) => a.begin - b.begin);
  marks = marks.filter((mark, i) => i === 0 || marks[i - 1].end <= mark.begin);
  byId('problems').replaceChildren(...items);
  showText();
}

let checkTimer = 0;
let isChecking = false;

function checkSoon() {
  clearTimeout(checkTimer);
  checkTimer = setTimeout(check, 150);
}

/** Returns the files that the program may include. */
const includes = () => Object.fromEntries(Object.entries(state.files).filter(([name]) => name.endsWith('.dl')));

async function check() {
  if (!language) return;
  if (isChecking) return checkSoon();
  isChecking = true;
  const program = state.program;
  const answer = await language.ask({do: 'check', program, includes: includes()});
  isChecking = false;
  if (answer?.ok && program === state.program) showProblems(answer.diagnostics);
}

// ---- results --------------------------------------------------------------------------------------------------------

function compareValues(a, b) {
  const numbers = [Number(a), Number(b)];
  if (a !== '' && b !== '' && !numbers.some(Number.isNaN)) return numbers[0] - numbers[1];
  return a < b ? -1 : a > b ? 1 : 0;
}

function tableOf(relation) {
  const order = relation.rows.map((_, i) => i);
  const body = element('tbody', {});
  let sorted = [0, 1];
  const fill = () => {
    const compare = (a, b) => {
      for (const column of [sorted[0], ...relation.columns.keys()]) {
        const found = compareValues(relation.rows[a][column], relation.rows[b][column]);
        if (found !== 0) return column === sorted[0] ? found * sorted[1] : found;
      }
      return 0;
    };
    order.sort(compare);
    body.replaceChildren(...order.map((row) => {
      const cells = relation.rows[row].map((value) => element('td', {textContent: value}));
      const line = element('tr', {tabIndex: 0, title: 'Show the proof', onclick: () => explain(relation.tuples[row])}, ...cells);
      line.onkeydown = (event) => { if (event.key === 'Enter') explain(relation.tuples[row]); };
      return line;
    }));
  };
  fill();
  const heads = relation.columns.map((column, i) => element('th', {}, element('button', {
    textContent: column.name, title: column.type, onclick: () => {
      sorted = [i, sorted[0] === i ? -sorted[1] : 1];
      fill();
    }})));
  return element('div', {className: 'scroll'},
      element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body));
}

function resultsView() {
  const parts = [];
  if (result.printed) parts.push(element('pre', {className: 'plain', textContent: result.printed}));
  const outputs = result.relations.filter((one) => one.is_output);
  for (const relation of outputs.length ? outputs : result.relations) {
    const shown = relation.rows.length < relation.size ? `, the first ${relation.rows.length} are shown` : '';
    parts.push(element('h2', {textContent: relation.name}),
        element('p', {className: 'note', textContent: `${relation.size} tuples${shown}`}), tableOf(relation));
  }
  return parts;
}

function proofList(proof) {
  const more = proof.kind === 'cut' ? [element('button', {textContent: 'Continue', onclick: () => explain(proof.text)})] : [];
  const note = proof.location ? ` by ${proof.rule} (${proof.location})` : proof.note ? ` ${proof.note}` : proof.kind === 'fact' ? ' fact' : '';
  const item = element('li', {}, element('code', {textContent: proof.text}), element('span', {className: 'note', textContent: note}), ...more);
  if (proof.premises?.length) item.append(element('ul', {className: 'proof'}, ...proof.premises.map(proofList)));
  return item;
}

async function explain(tuple) {
  openView = 'Proof';
  proofs = [element('p', {className: 'note', textContent: `Proof of ${tuple} ...`})];
  showView();
  if (!result.hasProofs) {
    const again = await runner.ask({...runRequest(), proofs: true});
    if (!again?.ok) return showProof([again?.message ?? 'Stopped.']);
    result.hasProofs = true;
  }
  const answer = await runner.ask({do: 'why', tuple});
  if (!answer?.ok) return showProof([answer?.message ?? 'Stopped.']);
  showProof([answer.proof ? element('ul', {className: 'proof'}, proofList(answer.proof)) : element('pre', {className: 'plain', textContent: answer.text})]);
}

function showProof(parts) {
  proofs = parts;
  showView();
}

async function textView(request, show) {
  const shown = result;
  const answer = await runner.ask(request);
  if (result !== shown) return;
  byId('view').replaceChildren(answer?.ok ? show(answer) : element('p', {className: 'error', textContent: answer?.message ?? 'Stopped.'}));
}

function showView() {
  tabs(byId('views'), ['Results', 'Proof', 'Plan', 'Profile'], openView, (name) => {
    openView = name;
    showView();
  });
  const view = byId('view');
  if (!result) return view.replaceChildren(element('p', {className: 'note', textContent: 'Run the program to see its results.'}));
  if (!result.ok) {
    return view.replaceChildren(element('pre', {className: 'plain error', textContent: result.message || result.report}));
  }
  if (openView === 'Results') return view.replaceChildren(...resultsView());
  if (openView === 'Proof') {
    return view.replaceChildren(...(proofs.length ? proofs : [element('p', {className: 'note', textContent: 'Click a tuple of a result.'})]));
  }
  view.replaceChildren();
  if (openView === 'Plan') {
    textView({do: 'show', stage: 'transformed-ram'}, (answer) => element('pre', {className: 'plain', textContent: answer.text}));
  } else {
    textView({do: 'profile'}, (answer) => element('iframe', {title: 'Profile of the run', srcdoc: answer.page}));
  }
}

function runRequest() {
  return {do: 'run', program: state.program, files: state.files, includes: includes(), rows: mostRows, memory: byId('memory').value * 2 ** 20};
}

async function run() {
  if (!runner || byId('run').disabled) return;
  byId('run').disabled = true;
  byId('stop').disabled = false;
  byId('state').textContent = 'Running';
  const begin = performance.now();
  const answer = await runner.ask(runRequest());
  const seconds = (performance.now() - begin) / 1000;
  byId('run').disabled = false;
  byId('stop').disabled = true;
  byId('state').textContent = answer ? (answer.ok ? `${seconds.toFixed(2)} s` : 'Failed') : 'Stopped';
  result = answer ?? {ok: false, message: 'The run was stopped.'};
  proofs = [];
  openView = 'Results';
  showView();
}

// ---- start ----------------------------------------------------------------------------------------------------------

const showState = (message) => {
  if (byId('run').disabled && !message) return;
  byId('state').textContent = message || 'Ready';
};
const hasEngine = typeof WebAssembly === 'object' && typeof CompressionStream === 'function';
const language = hasEngine ? new EngineClient(() => {}) : null;
const runner = hasEngine ? new EngineClient(showState) : null;

const assistant = language && new Assistant(byId('text'), byId('editor'), (messages) =>
  language.ask({do: 'edit', messages, includes: includes()}), () => openFile === programName);

byId('text').oninput = (event) => {
  setText(openFile, byId('text').value);
  marks = [];
  showText();
  if (openFile === programName) checkSoon();
  assistant?.typed(event.data);
};
byId('text').onscroll = () => {
  showText();
  assistant?.close();
};
byId('text').onkeydown = (event) => {
  if (assistant?.handles(event)) return event.preventDefault();
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
};
byId('run').onclick = run;
byId('stop').onclick = () => runner?.stop();
byId('format').onclick = async () => {
  const answer = await language?.ask({do: 'format', program: state.program});
  if (!answer?.ok) return;
  state.program = answer.program;
  open(programName);
  checkSoon();
};
byId('link').onclick = async () => {
  history.replaceState(null, '', await fragmentOf(state));
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  byId('state').textContent = 'The address contains the program.';
};
byId('examples').append(...examples.map((one, i) => element('option', {value: i, textContent: one.name})));
byId('examples').onchange = () => openState(examples[byId('examples').value]);

async function start() {
  let linked = null;
  try {
    linked = await valueOf(location.hash);
  } catch {
    byId('state').textContent = 'The link is damaged: it contains no program.';
  }
  openState(linked ?? examples[0]);
  if (hasEngine) return;
  byId('state').textContent = 'This browser is too old: the playground needs WebAssembly and CompressionStream.';
  byId('run').disabled = true;
  byId('format').disabled = true;
}

window.onhashchange = start;
start();
