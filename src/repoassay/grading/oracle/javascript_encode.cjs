// Values of the code under test as JSON, by structure alone: no getter, no proxy trap, no method of theirs is called.
//
// null, booleans, strings and plain numbers stand for themselves; all else is an array that begins with its kind, as
// `javascript_decode.cjs` reads it. Nothing here is secret: a value is what it is, whoever encodes it.
'use strict';

const { createHash, Hash } = require('node:crypto');
const { types } = require('node:util');

const bound = Function.prototype.bind.bind(Function.prototype.call);
const getter = (of, name) => bound(Object.getOwnPropertyDescriptor(of, name).get);
const { getOwnPropertyDescriptor: describe, getPrototypeOf: above } = Object;
const { ownKeys } = Reflect;
const { isArray } = Array;
const { is } = Object;
const quote = JSON.stringify; // of a string: only objects are asked for toJSON
const is_ = { __proto__: null, ...types };
const each = bound(Map.prototype.forEach);
const eachOf = bound(Set.prototype.forEach);
const timeOf = bound(Date.prototype.getTime);
const inner = {
  __proto__: null, number: bound(Number.prototype.valueOf), string: bound(String.prototype.valueOf),
  boolean: bound(Boolean.prototype.valueOf), bigint: bound(BigInt.prototype.valueOf),
};
const cut = bound(String.prototype.slice);
const patternOf = getter(RegExp.prototype, 'source');
const FLAGS = ['hasIndices', 'global', 'ignoreCase', 'multiline', 'dotAll', 'unicode', 'unicodeSets', 'sticky'];
const flagsOf = FLAGS.filter((name) => name in RegExp.prototype).map((name) => getter(RegExp.prototype, name));
const LETTERS = FLAGS.filter((name) => name in RegExp.prototype).map((name) => 'dgimsuvy'[FLAGS.indexOf(name)]);
const Typed = above(Uint8Array.prototype);
const [bufferOf, offsetOf, lengthOf] = ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(Typed, name));
const kindOf = getter(Typed, Symbol.toStringTag);
const viewOf = ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(DataView.prototype, name));
const hrefOf = getter(URL.prototype, 'href');
const paramsOf = bound(URLSearchParams.prototype.toString);
const keyFor = Symbol.keyFor;
const nameOf = getter(Symbol.prototype, 'description');
const hash = bound(Hash.prototype.update);
const digest = bound(Hash.prototype.digest);
const Bytes = Uint8Array;
const HEX = '0123456789abcdef';
const ours = new Map();
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value = describe(globalThis, name).value;
  if (typeof value === 'function' && value.prototype) ours.set(value.prototype, name);
}
ours.set(Buffer.prototype, 'Buffer');
ours.set(Typed, 'TypedArray');
const known = bound(Map.prototype.get).bind(null, ours);

const NODES = 50_000;
const DEPTH = 12;
const LENGTH = 2 ** 20;

/** A value as text; what is longer than 1 MiB is its digest. */
function encode(value) {
  const state = { __proto__: null, nodes: 0, depth: 0, above: null };
  let text;
  try {
    text = node(value, state);
  } catch {
    text = '["opaque","what cannot be looked at"]';
  }
  if (text.length <= LENGTH) return text;
  return '["digest","' + digest(hash(createHash('sha256'), text), 'hex') + '",' + text.length + ']';
}

function node(value, state) {
  if (++state.nodes > NODES) return '["more"]';
  switch (typeof value) {
    case 'undefined': return '["undefined"]';
    case 'boolean': return value ? 'true' : 'false';
    case 'string': return quote(value);
    case 'number':
      return value - value === 0 && !is(value, -0) ? '' + value : '["number","' + (is(value, -0) ? '-0' : value) + '"]';
    case 'bigint': return '["bigint","' + value + '"]';
    case 'symbol': return symbol(value);
  }
  if (value === null) return 'null';
  if (is_.isProxy(value)) return '["opaque","Proxy"]';
  if (state.depth >= DEPTH) return '["deeper"]';
  for (let at = state.above, up = 1; at !== null; at = at.next, up++) if (at.value === value) return '["cycle",' + up + ']';
  state.above = { __proto__: null, value, next: state.above };
  state.depth++;
  const text = typeof value === 'function' ? '["function",' + quote(ownName(value)) + ']' : thing(value, state);
  state.depth--;
  state.above = state.above.next;
  return text;
}

function symbol(value) {
  const shared = keyFor(value);
  if (shared !== undefined) return '["symbol","for",' + quote(shared) + ']';
  return '["symbol","own",' + quote(nameOf(value) ?? '') + ']';
}

function thing(value, state) {
  if (isArray(value)) return dressed(items(value, state), 'Array', value, state, true);
  if (is_.isNativeError(value)) return error(value, state);
  if (is_.isDate(value)) return dressed('["date",' + node(timeOf(value), state) + ']', 'Date', value, state);
  if (is_.isRegExp(value)) return dressed(pattern(value, state), 'RegExp', value, state);
  if (is_.isMap(value)) return dressed(map(value, state), 'Map', value, state);
  if (is_.isSet(value)) return dressed(set(value, state), 'Set', value, state);
  if (is_.isTypedArray(value)) {
    const name = known(above(value)) === 'Buffer' ? 'Buffer' : kindOf(value);
    return dressed(bytes(name, bufferOf(value), offsetOf(value), lengthOf(value)), name, value, state, true);
  }
  if (is_.isDataView(value)) return bytes('DataView', viewOf[0](value), viewOf[1](value), viewOf[2](value));
  if (is_.isAnyArrayBuffer(value)) {
    const name = is_.isSharedArrayBuffer(value) ? 'SharedArrayBuffer' : 'ArrayBuffer';
    return bytes(name, value, 0, new Bytes(value).length);
  }
  if (is_.isBoxedPrimitive(value)) return boxed(value, state);
  if (is_.isArgumentsObject(value)) return '["arguments",' + items(value, state) + ']';
  for (const kind of ['Promise', 'WeakMap', 'WeakSet', 'GeneratorObject', 'MapIterator', 'SetIterator', 'ModuleNamespaceObject', 'External']) {
    if (is_['is' + kind](value)) return kind === 'ModuleNamespaceObject' ? plain(value, state) : '["opaque","' + kind + '"]';
  }
  const name = known(above(value));
  if (name === 'URL') return '["url",' + quote(hrefOf(value)) + ']';
  if (name === 'URLSearchParams') return '["query",' + quote(paramsOf(value)) + ']';
  return plain(value, state);
}

function plain(value, state) {
  return '["object",' + chain(value) + ',' + properties(value, state, false) + ']';
}

/** What a builtin holds, and beside it its class and own properties where they are out of the common. */
function dressed(core, name, value, state, indexed) {
  const extra = properties(value, state, indexed);
  if (extra === '[]' && known(above(value)) === name) return core;
  return '["with",' + core + ',' + chain(value) + ',' + extra + ']';
}

function items(value, state) {
  let text = '["array",[';
  const length = describe(value, 'length').value;
  for (let i = 0; i < length && state.nodes <= NODES; i++) {
    if (i) text += ',';
    const found = describe(value, i);
    text += found === undefined ? '["hole"]' : owned(found, state);
  }
  return text + ']]';
}

function owned(found, state) {
  return 'value' in found ? node(found.value, state) : '["accessor"]';
}

function properties(value, state, indexed) {
  let text = '';
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length && state.nodes <= NODES; i++) {
    const key = keys[i];
    if (indexed && typeof key === 'string' && '' + (key >>> 0) === key) continue;
    const found = describe(value, key);
    if (found === undefined || !found.enumerable) continue;
    text += (text ? ',' : '') + '[' + (typeof key === 'symbol' ? symbol(key) : quote(key)) + ',' + owned(found, state) + ']';
  }
  return '[' + text + ']';
}

/** Names of classes from an object's own upward: builtins by their names, others marked as classes of theirs. */
function chain(value) {
  let text = '';
  let at = above(value);
  for (let steps = 0; at !== null && steps < 10; steps++, at = is_.isProxy(at) ? null : above(at)) {
    const name = is_.isProxy(at) ? undefined : known(at);
    text += (text ? ',' : '') + (name === undefined ? quote('class ' + madeBy(at)) : quote(name));
  }
  return '[' + text + ']';
}

function madeBy(prototype) {
  if (is_.isProxy(prototype)) return '';
  const maker = describe(prototype, 'constructor');
  return maker && typeof maker.value === 'function' && !is_.isProxy(maker.value) ? ownName(maker.value) : '';
}

function ownName(of) {
  const name = describe(of, 'name');
  return name && typeof name.value === 'string' ? name.value : '';
}

function textIn(value, key) {
  for (let at = value, steps = 0; at !== null && steps < 10 && !is_.isProxy(at); at = above(at), steps++) {
    const found = describe(at, key);
    if (found) return typeof found.value === 'string' ? found.value : '';
  }
  return '';
}

function error(value, state) {
  let text = '';
  for (const key of ['cause', 'errors']) {
    const found = describe(value, key);
    if (found && !found.enumerable) text += (text ? ',' : '') + '["' + key + '",' + owned(found, state) + ']';
  }
  const told = quote(textIn(value, 'name')) + ',' + quote(textIn(value, 'message'));
  return '["error",' + chain(value) + ',' + told + ',' + properties(value, state, false) + ',[' + text + ']]';
}

function pattern(value, state) {
  let flags = '';
  for (let i = 0; i < LETTERS.length; i++) if (flagsOf[i](value)) flags += LETTERS[i];
  return '["regexp",' + quote(patternOf(value)) + ',"' + flags + '",' + node(describe(value, 'lastIndex').value, state) + ']';
}

function map(value, state) {
  let text = '';
  each(value, (item, key) => {
    if (state.nodes <= NODES) text += (text ? ',' : '') + '[' + node(key, state) + ',' + node(item, state) + ']';
  });
  return '["map",[' + text + ']]';
}

function set(value, state) {
  let text = '';
  eachOf(value, (item) => {
    if (state.nodes <= NODES) text += (text ? ',' : '') + node(item, state);
  });
  return '["set",[' + text + ']]';
}

function bytes(name, buffer, offset, length) {
  const seen = new Bytes(buffer, offset, length);
  let text = '';
  for (let i = 0; i < length && i < LENGTH; i++) text += HEX[seen[i] >> 4] + HEX[seen[i] & 15];
  return '["bytes","' + name + '","' + text + '"]';
}

function boxed(value, state) {
  const kind = is_.isNumberObject(value) ? 'number' : is_.isStringObject(value) ? 'string'
    : is_.isBooleanObject(value) ? 'boolean' : is_.isBigIntObject(value) ? 'bigint' : '';
  return kind ? '["boxed",' + node(inner[kind](value), state) + ']' : '["opaque","Symbol"]';
}

module.exports = { encode, quote, cut };
