'use strict';

/** An engine in a worker. */
class EngineClient {
  /** @param onState called with a message for the user; empty: ready */
  constructor(onState) {
    this.onState = onState;
    this.start();
  }

  start() {
    this.waiting = new Map();
    this.last = 0;
    this.worker = new Worker('worker.js');
    const worker = this.worker;
    worker.onmessage = ({data}) => {
      if (worker !== this.worker) return;
      if (data.isReady) return this.onState('');
      if (data.failure) return this.onState(`The engine does not start: ${data.failure}`);
      const resolve = this.waiting.get(data.number);
      this.waiting.delete(data.number);
      if (data.isBroken) this.stop();
      resolve?.(data.answer);
    };
    worker.onerror = (failure) => this.onState(`The engine does not start: ${failure.message}`);
  }

  /** Returns the answer; null after stop(). */
  ask(request) {
    const number = ++this.last;
    return new Promise((resolve) => {
      this.waiting.set(number, resolve);
      this.worker.postMessage({number, request});
    });
  }

  /** Ends all requests and starts a new engine. */
  stop() {
    this.worker.terminate();
    const stopped = [...this.waiting.values()];
    this.start();
    for (const resolve of stopped) resolve(null);
  }
}
