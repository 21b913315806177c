/** Node's plain HTTP server. */

import type { createServer } from 'node:http'

/**
 * Loaded this way because importing `node:http` evaluates all its exports, among them the browser's WebSocket, which loads a
 * second HTTP client. Nothing here uses that client, and loading it takes 25 ms per start.
 */
export const createHttpServer: typeof createServer = process.getBuiltinModule('node:http').createServer
