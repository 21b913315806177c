/**
 * Records in the database how many lines and files of each spool were set aside because they could not be processed, so that an
 * audit in any process sees it.
 */

import type { AnySql, StatementPool } from '../lib/database.ts'
import type { SpoolSetAside } from './spool-reader.ts'

const PUT = `insert into spool_set_aside (name, folder, lines, files)
  values ($1, $2, $3::text::integer, $4::text::integer)
  on conflict (name) do update set folder = excluded.folder, lines = excluded.lines, files = excluded.files, seen_at = now()`
const CLEAR = 'delete from spool_set_aside where name = $1'

export interface SetAsideSpool extends SpoolSetAside {
  /** Name of the process that owns the spool. */
  readonly name: string
}

/** Lists the spools that an operator must look at, of all processes that use this database. */
export async function readSetAside(sql: AnySql): Promise<readonly SetAsideSpool[]> {
  const rows = await sql.unsafe('select name, folder, lines, files from spool_set_aside order by name')
  return rows.map(({ name, folder, lines, files }) => ({ name, folder, lines, files }))
}

/** Keeps the database up to date on what was set aside in the spools that this process handles. */
export class SetAsideReport {
  readonly #pool: StatementPool
  readonly #reported = new Map<string, SpoolSetAside>()

  constructor(pool: StatementPool) {
    this.#pool = pool
  }

  /** `name` is the process that owns the spool. Writes to the database only if something has changed. */
  async update(name: string, state: SpoolSetAside): Promise<void> {
    const { folder, lines, files } = state
    const reported = this.#reported.get(name)
    if (reported?.lines === lines && reported.files === files) return
    if (lines + files === 0) await this.#pool.query(CLEAR, [name])
    else await this.#pool.query(PUT, [name, folder, String(lines), String(files)])
    this.#reported.set(name, state)
  }

  get total(): { readonly lines: number; readonly files: number } {
    const states = [...this.#reported.values()]
    return {
      lines: states.reduce((sum, { lines }) => sum + lines, 0),
      files: states.reduce((sum, { files }) => sum + files, 0),
    }
  }
}
