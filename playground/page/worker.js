'use strict';

// One engine, which answers requests in the order of their arrival. The page stops a run by ending the worker.
importScripts('engine.js');

let printed = [];
const engine = createEngine({print: (line) => printed.push(line), printErr: (line) => printed.push(line)});

function ask(module, request) {
  const text = JSON.stringify(request);
  const size = module.lengthBytesUTF8(text) + 1;
  const place = module._malloc(size);
  module.stringToUTF8(text, place, size);
  const answer = JSON.parse(module.UTF8ToString(module._answer(place)));
  module._free(place);
  return answer;
}

onmessage = async ({data: {number, request}}) => {
  printed = [];
  try {
    const answer = ask(await engine, request);
    postMessage({number, answer: {...answer, printed: printed.join('\n')}});
  } catch (failure) {
    const message = failure instanceof RangeError ? 'The program is nested too deeply for a browser.' : `The engine failed: ${failure}`;
    postMessage({number, answer: {ok: false, message}, isBroken: true});
  }
};

engine.then(() => postMessage({isReady: true}), (failure) => postMessage({failure: String(failure)}));
