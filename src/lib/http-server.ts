/** Node's plain HTTP server. */

import type { createServer } from 'node:http'

/**
 * An `import` of `node:http` reads each of its exports, the browser's WebSocket among them, which loads a second HTTP
 * client that nobody here uses: 25 ms of each start.
 */
export const createHttpServer: typeof createServer = process.getBuiltinModule('node:http').createServer
