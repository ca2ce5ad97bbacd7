#!/usr/bin/env node
// Runs a program with the WebAssembly engine, with the options of the command that tests need. PLAYGROUND names the
// folder of the engine if it is not build/wasm/site.
//   run_program.js PROGRAM [-F FACTS] [-D OUTPUT]
'use strict';

const fs = require('fs');
const path = require('path');

const [program, ...options] = process.argv.slice(2);
const option = (name, otherwise) => (options.includes(name) ? options[options.indexOf(name) + 1] : otherwise);

function textsIn(folder, isWanted) {
  const texts = {};
  if (!folder) return texts;
  for (const entry of fs.readdirSync(folder, {withFileTypes: true})) {
    if (entry.isFile() && isWanted(entry.name)) texts[entry.name] = fs.readFileSync(path.join(folder, entry.name), 'utf8');
  }
  return texts;
}

function ask(engine, request) {
  const text = JSON.stringify(request);
  const size = engine.lengthBytesUTF8(text) + 1;
  const place = engine._malloc(size);
  engine.stringToUTF8(text, place, size);
  const answer = JSON.parse(engine.UTF8ToString(engine._answer(place)));
  engine._free(place);
  return answer;
}

async function main() {
  const printed = [];
  const file = path.resolve(process.env.PLAYGROUND || path.join(__dirname, '../../build/wasm/site'), 'engine.js');
  const engine = await require(file)({
    print: (line) => printed.push(line + '\n'),
    wasmBinary: fs.readFileSync(file.replace(/js$/, 'wasm')), // emscripten 3.1.6 takes the fetch() of node for a browser's
  });
  const answer = ask(engine, {
    do: 'run',
    program: fs.readFileSync(program, 'utf8'),
    includes: textsIn(path.dirname(program), (name) => name.endsWith('.dl') || name.endsWith('.h')),
    files: textsIn(option('-F', null), () => true),
    outputs: true,
  });
  process.stdout.write(printed.join(''));
  process.stderr.write((answer.report || '') + (answer.message ? `Error: ${answer.message}\n` : ''));
  const output = option('-D', null);
  for (const [name, text] of Object.entries(answer.outputs || {})) {
    if (output) fs.writeFileSync(path.join(output, name), text);
  }
  process.exitCode = answer.ok ? 0 : 1;
}

main();
