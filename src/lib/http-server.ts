/** Node's plain HTTP server. */

import type { createServer } from 'node:http'

/**
 * Loaded this way because importing `node:http` evaluates all its exports. One is the browser's WebSocket, which loads a second
 * HTTP client that nothing here uses and takes 25 ms per start.
 */
export const createHttpServer: typeof createServer = process.getBuiltinModule('node:http').createServer
