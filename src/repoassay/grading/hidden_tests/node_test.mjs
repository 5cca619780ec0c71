// What `node:test` is to hidden tests that are modules.
import api from './node_test.cjs';

export const { test, it, describe, suite, mock, before, after, beforeEach, afterEach } = api;
export default api.default;
