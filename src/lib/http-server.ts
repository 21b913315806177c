/** Node's plain HTTP server. */

import type { createServer } from 'node:http'

/**
 * Loaded this way because importing `node:http` evaluates all its exports. One export is the browser's WebSocket. It loads a
 * second HTTP client that nothing here uses, which takes 25 ms per start.
 */
export const createHttpServer: typeof createServer = process.getBuiltinModule('node:http').createServer
