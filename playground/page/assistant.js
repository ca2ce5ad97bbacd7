'use strict';

const documentUri = 'file:///program/program.dl';
const opensCompletions = /^[\w?.$@:]$/;
const partOfName = /[\w?]*$/;
const hoverMilliseconds = 300;

/** Completions and descriptions of names in a text area, by the language server. */
class Assistant {
  /**
   * @param text the text area
   * @param frame the positioned element around `text`
   * @param send passes messages of the Language Server Protocol to the server, and returns {messages}
   * @param isActive returns whether the text area has the program
   */
  constructor(text, frame, send, isActive) {
    Object.assign(this, {text, frame, send, isActive, lastId: 0, version: 0, sentText: null, timer: 0, question: 0});
    this.description = this.popup('div', 'hover', 'tooltip');
    this.list = this.popup('ul', 'completions', 'listbox');
    text.addEventListener('mousemove', (event) => this.pointAt(event));
    text.addEventListener('mouseleave', () => this.endHover());
    text.addEventListener('blur', () => this.close());
  }

  popup(tag, id, role) {
    const made = element(tag, {id, hidden: true});
    made.setAttribute('role', role);
    this.frame.append(made);
    return made;
  }

  // ---- messages -------------------------------------------------------------------------------------------------------

  /** Returns the result of a request about an offset of the text; null after an error. */
  async ask(method, offset) {
    const messages = [];
    const request = (name, params) => messages.push({jsonrpc: '2.0', id: ++this.lastId, method: name, params}) && this.lastId;
    const notify = (name, params) => messages.push({jsonrpc: '2.0', method: name, params});
    const text = this.text.value;
    if (this.version === 0) {
      request('initialize', {capabilities: {}, processId: null, rootUri: null});
      notify('initialized', {});
      notify('textDocument/didOpen', {textDocument: {uri: documentUri, languageId: 'souffle', version: ++this.version, text}});
    } else {
      notify('textDocument/didChange', {textDocument: {uri: documentUri, version: ++this.version}, contentChanges: [{text}]});
    }
    const id = request(method, {textDocument: {uri: documentUri}, position: this.positionOf(offset)});
    const answer = await this.send(messages);
    if (!answer?.ok) this.version = 0;  // a new engine
    return answer?.messages?.find((one) => one.id === id)?.result ?? null;
  }

  positionOf(offset) {
    const before = this.text.value.slice(0, offset);
    return {line: before.split('\n').length - 1, character: offset - before.lastIndexOf('\n') - 1};
  }

  // ---- places ---------------------------------------------------------------------------------------------------------

  /** Returns the size of a character and the padding of the text area. */
  metrics() {
    const style = getComputedStyle(this.text);
    const context = (this.canvas ??= document.createElement('canvas')).getContext('2d');
    context.font = style.font;
    return {width: context.measureText('0').width, height: parseFloat(style.lineHeight), padding: parseFloat(style.paddingLeft)};
  }

  columnOf(line) {
    let column = 0;
    for (const character of line) column += character === '\t' ? 8 - column % 8 : 1;
    return column;
  }

  /** Shows the popup below the character at an offset, or above where there is more space. */
  place(popup, offset) {
    const {width, height, padding} = this.metrics();
    const {line, character} = this.positionOf(offset);
    const left = padding + this.columnOf(this.text.value.slice(offset - character, offset)) * width - this.text.scrollLeft;
    const top = padding + line * height - this.text.scrollTop;
    popup.hidden = false;
    const below = top + height;
    const isBelow = below + popup.offsetHeight <= this.frame.clientHeight || top < this.frame.clientHeight / 2;
    popup.style.left = `${Math.max(0, Math.min(left, this.frame.clientWidth - popup.offsetWidth))}px`;
    popup.style.top = `${isBelow ? below : top - popup.offsetHeight}px`;
  }

  /** Returns the offset of the character at a place of the window; null beside the text. */
  offsetAt(x, y) {
    const {width, height, padding} = this.metrics();
    const box = this.text.getBoundingClientRect();
    const lines = this.text.value.split('\n');
    const line = Math.floor((y - box.top - padding + this.text.scrollTop) / height);
    const column = Math.floor((x - box.left - padding + this.text.scrollLeft) / width);
    if (line < 0 || line >= lines.length || column < 0 || column >= this.columnOf(lines[line])) return null;
    let character = 0;
    while (this.columnOf(lines[line].slice(0, character + 1)) <= column) ++character;
    return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  }

  // ---- descriptions ---------------------------------------------------------------------------------------------------

  pointAt(event) {
    this.endHover();
    this.timer = setTimeout(() => {
      const offset = this.offsetAt(event.clientX, event.clientY);
      if (offset !== null && this.list.hidden) this.describe(offset);
    }, hoverMilliseconds);
  }

  endHover() {
    clearTimeout(this.timer);
    this.description.hidden = true;
    ++this.question;
  }

  async describe(offset) {
    if (!this.isActive()) return;
    const question = ++this.question;
    const found = await this.ask('textDocument/hover', offset);
    if (!found || question !== this.question) return;
    const parts = found.contents.value.split(/```souffle\n([^]*?)\n```\n*/);
    this.description.replaceChildren(...parts.map((part, i) =>
      part && element(i % 2 ? 'pre' : 'p', {textContent: part})).filter(Boolean));
    this.place(this.description, offset);
  }

  // ---- completions ----------------------------------------------------------------------------------------------------

  /** @param typed the characters of an input event */
  typed(typed) {
    this.endHover();
    if (typed && opensCompletions.test(typed)) return this.complete();
    this.close();
  }

  async complete() {
    if (!this.isActive()) return;
    const text = this.text.value;
    const offset = this.text.selectionStart;
    const question = ++this.question;
    const found = await this.ask('textDocument/completion', offset);
    if (question !== this.question || text !== this.text.value) return;
    const prefix = partOfName.exec(text.slice(0, offset))[0];
    const items = Array.isArray(found) ? found : found?.items ?? [];
    const matching = items.filter((one) => one.label !== prefix && one.label.startsWith(prefix));
    this.show(matching, offset - prefix.length, offset);
  }

  show(items, begin, end) {
    if (!items.length) return this.close();
    const order = (one) => one.sortText ?? '1' + one.label;
    items.sort((a, b) => (order(a) < order(b) ? -1 : 1));
    this.choices = items.map((item) => ({item, begin, end}));
    this.list.replaceChildren(...items.map((item, i) => {
      const line = element('li', {textContent: item.label}, ...(item.detail ? [element('span', {textContent: item.detail})] : []));
      line.setAttribute('role', 'option');
      line.onmousedown = (event) => {
        event.preventDefault();
        this.accept(i);
      };
      return line;
    }));
    this.place(this.list, begin);
    this.choose(0);
  }

  choose(number) {
    this.chosen = (number + this.choices.length) % this.choices.length;
    [...this.list.children].forEach((line, i) => line.setAttribute('aria-selected', i === this.chosen));
    this.list.children[this.chosen].scrollIntoView({block: 'nearest'});
  }

  accept(number) {
    const {item, begin, end} = this.choices[number];
    this.close();
    this.text.setRangeText(item.insertText ?? item.label, begin, end, 'end');
    this.text.dispatchEvent(new InputEvent('input'));
  }

  close() {
    ++this.question;
    this.list.hidden = true;
    this.endHover();
  }

  /** Returns whether a key belongs to the popups, and acts. */
  handles(event) {
    if (event.ctrlKey && event.key === ' ') return this.complete(), true;
    if (event.ctrlKey && event.key === 'i') return this.describe(this.text.selectionStart), true;
    if (event.key === 'Escape' && !this.description.hidden) return this.endHover(), true;
    if (this.list.hidden || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'ArrowDown') return this.choose(this.chosen + 1), true;
    if (event.key === 'ArrowUp') return this.choose(this.chosen - 1), true;
    if (event.key === 'Enter' || event.key === 'Tab') return this.accept(this.chosen), true;
    if (event.key === 'Escape') return this.close(), true;
    return false;
  }
}
