import assert from 'node:assert/strict';
import Queue from './index.js';

const queue = new Queue();
assert.equal(queue.remove('a'), false);

for (const value of ['a', 'b', 'c', 'b', Number.NaN]) {
	queue.enqueue(value);
}

assert.equal(queue.remove('b'), true);
assert.deepEqual([...queue], ['a', 'c', 'b', Number.NaN]);
assert.equal(queue.size, 4);
assert.equal(queue.remove(Number.NaN), true);
queue.enqueue('d');
assert.deepEqual([...queue], ['a', 'c', 'b', 'd']);
assert.equal(queue.remove('a'), true);
assert.equal(queue.peek(), 'c');
assert.equal(queue.remove('x'), false);
assert.equal(queue.size, 3);
assert.deepEqual([...queue.drain()], ['c', 'b', 'd']);
queue.enqueue('e');
assert.equal(queue.remove('e'), true);
assert.equal(queue.dequeue(), undefined);
queue.enqueue('f');
assert.deepEqual([...queue], ['f']);
