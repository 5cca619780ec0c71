// What `javascript_encode.cjs` wrote, as values again: by structure alone, nothing of it is ever run.
//
// Classes of the code under test come back as empty classes of the same names, so that a prototype differs where it
// did; functions as functions that do nothing; what was opaque as an object that equals nothing.
'use strict';

const BUILT = { __proto__: null };
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value = Object.getOwnPropertyDescriptor(globalThis, name).value;
  if (typeof value === 'function' && value.prototype) BUILT[name] = value.prototype;
}
BUILT.Buffer = Buffer.prototype;
BUILT.TypedArray = Object.getPrototypeOf(Uint8Array.prototype);
const SPECIAL = { __proto__: null, '-0': -0, NaN, Infinity, '-Infinity': -Infinity };

/** A decoder for the operands of one check, which share their classes and symbols. */
function decoder() {
  return { __proto__: null, classes: new Map(), symbols: new Map(), above: [] };
}

function decode(node, of) {
  if (node === null || typeof node !== 'object') return node;
  const made = KINDS[node[0]];
  if (made === undefined) throw new Error('an observation is of no known kind');
  return made(node, of);
}

function inside(of, value, fill) {
  of.above.push(value);
  try {
    fill(value);
  } finally {
    of.above.pop();
  }
  return value;
}

function put(value, key, content, enumerable) {
  Object.defineProperty(value, key, { value: content, enumerable, writable: true, configurable: true });
}

function dress(value, properties, of, enumerable = true) {
  for (const [key, content] of properties) {
    put(value, typeof key === 'string' ? key : decode(key, of), decode(content, of), enumerable);
  }
}

/** The prototype that a chain of class names stands for. */
function prototype(chain, of) {
  if (chain.length === 0) return null;
  const [first, ...rest] = chain;
  if (BUILT[first] !== undefined) return BUILT[first];
  const key = JSON.stringify(chain);
  if (!of.classes.has(key)) {
    const name = String(first).replace(/^class /, '');
    const made = Object.create(prototype(rest, of));
    const maker = function () {};
    put(maker, 'name', name, false);
    maker.prototype = made;
    put(made, 'constructor', maker, false);
    of.classes.set(key, made);
  }
  return of.classes.get(key);
}

const OPAQUE = {
  __proto__: null,
  Promise: () => new Promise(() => {}),
  WeakMap: () => new WeakMap(),
  WeakSet: () => new WeakSet(),
  GeneratorObject: () => (function* () {})(),
  MapIterator: () => new Map().values(),
  SetIterator: () => new Set().values(),
};

function opaque(what) {
  if (OPAQUE[what] !== undefined) return OPAQUE[what]();
  const value = Object.create(null);
  put(value, Symbol('opaque'), String(what), true);
  return value;
}

const KINDS = {
  __proto__: null,
  undefined: () => undefined,
  number: ([, text]) => SPECIAL[text],
  bigint: ([, text]) => BigInt(text),
  symbol([, kind, text], of) {
    if (kind === 'for') return Symbol.for(text);
    const known = /^Symbol\.(\w+)$/.exec(text);
    if (known && typeof Symbol[known[1]] === 'symbol') return Symbol[known[1]];
    if (!of.symbols.has(text)) of.symbols.set(text, Symbol(text));
    return of.symbols.get(text);
  },
  array: ([, items], of) => inside(of, new Array(items.length), (made) => {
    items.forEach((item, at) => {
      if (!Array.isArray(item) || item[0] !== 'hole') made[at] = decode(item, of);
    });
  }),
  object: ([, chain, properties], of) =>
    inside(of, Object.create(prototype(chain, of)), (made) => dress(made, properties, of)),
  with([, core, chain, properties], of) {
    const made = decode(core, of);
    Object.setPrototypeOf(made, prototype(chain, of));
    return inside(of, made, () => dress(made, properties, of));
  },
  error([, chain, name, message, properties, hidden], of) {
    const made = new Error(message);
    Object.setPrototypeOf(made, prototype(chain, of));
    if (made.name !== name) put(made, 'name', name, false);
    return inside(of, made, () => {
      dress(made, hidden, of, false);
      dress(made, properties, of);
    });
  },
  date: ([, time], of) => new Date(decode(time, of)),
  regexp([, source, flags, last], of) {
    const made = new RegExp(source, flags);
    made.lastIndex = decode(last, of);
    return made;
  },
  map: ([, pairs], of) => inside(of, new Map(), (made) => {
    for (const [key, item] of pairs) made.set(decode(key, of), decode(item, of));
  }),
  set: ([, items], of) => inside(of, new Set(), (made) => {
    for (const item of items) made.add(decode(item, of));
  }),
  bytes([, kind, hex]) {
    const raw = Buffer.from(hex, 'hex');
    if (kind === 'Buffer') return raw;
    const own = new Uint8Array(raw).buffer;
    if (kind === 'ArrayBuffer') return own;
    if (kind === 'SharedArrayBuffer') {
      const shared = new SharedArrayBuffer(raw.length);
      new Uint8Array(shared).set(raw);
      return shared;
    }
    const Kind = { DataView, Uint8Array, Int8Array, Uint8ClampedArray, Uint16Array, Int16Array, Uint32Array, Int32Array,
      Float32Array, Float64Array, BigInt64Array, BigUint64Array }[kind];
    return new Kind(own);
  },
  boxed: ([, inner], of) => Object(decode(inner, of)),
  arguments: ([, items], of) => (function () { return arguments; })(...decode(items, of)),
  url: ([, text]) => new URL(text),
  query: ([, text]) => new URLSearchParams(text),
  function([, name]) {
    const made = function () {};
    put(made, 'name', name, false);
    return made;
  },
  cycle([, up], of) {
    if (!(up > 0 && up <= of.above.length)) throw new Error('an observation refers to nothing');
    return of.above[of.above.length - up];
  },
  returned: () => () => undefined,
  threw([, error], of) {
    const value = decode(error, of);
    return () => { throw value; };
  },
  hole: () => undefined,
  accessor: () => opaque('accessor'),
  opaque: ([, what]) => opaque(what),
  more: () => opaque('more'),
  deeper: () => opaque('deeper'),
  digest: ([, hash]) => opaque(hash),
};

module.exports = { decode, decoder };
