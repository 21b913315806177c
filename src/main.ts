/** Starts the same program as start.js, but more slowly: Node has to strip this file's types first. */

import './start.js'
