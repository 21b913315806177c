/** Node's plain HTTP server. */

import type { createServer } from 'node:http'

/**
 * Importing `node:http` evaluates each of its exports, among them the browser's WebSocket, which loads a second HTTP
 * client that nothing here uses: 25 ms per start.
 */
export const createHttpServer: typeof createServer = process.getBuiltinModule('node:http').createServer
