// What `node:test` is to hidden tests: `node_runner.cjs` fills it in before any of them is loaded.
'use strict';
