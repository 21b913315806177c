// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { ENTRIES } from './entries.ts'
import { SETTINGS } from './settings.ts'
import type { Tables } from './types.ts'
import { UPSTREAMS } from './upstreams.ts'

/** The current catalogue. */
export const TABLES: Tables = { entries: ENTRIES, upstreams: UPSTREAMS, settings: SETTINGS }
