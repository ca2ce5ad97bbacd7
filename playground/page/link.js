'use strict';

async function bytesThrough(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** Returns a URL fragment with the value, compressed. */
async function fragmentOf(value) {
  const bytes = await bytesThrough(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream('deflate-raw'));
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return '#p=' + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Returns the value of a fragment; null for a fragment without one. @throws for a damaged fragment */
async function valueOf(fragment) {
  if (!fragment.startsWith('#p=')) return null;
  const text = atob(fragment.slice(3).replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await bytesThrough(bytes, new DecompressionStream('deflate-raw'))));
}
