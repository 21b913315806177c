/** Measures what pages cost: how long they take, and the processor time of the gateway and of Postgres for each load. */

import { readFileSync } from 'node:fs'
import type { Sql } from '../src/lib/database.ts'
import { meterOf, treeOf } from './proxy/cpu.ts'
import { type SignedIn, timesOf } from './signed-in.ts'

/**
 * Prints a row for each page. On a busy machine, read only the processor time: the other times mostly show what else is running.
 */
export async function printPages(signedIn: SignedIn, paths: readonly string[]): Promise<void> {
  const postmaster = await postmasterOf(signedIn.sql)
  console.log('\n| page | first ms | median ms | gateway, CPU ms | Postgres, CPU ms |\n|---|--:|--:|--:|--:|')
  for (const path of paths) {
    const gateway = meterOf(() => treeOf(signedIn.gatewayProcessId))
    const postgres = meterOf(() => treeOf(postmaster))
    try {
      const { first, median, turns } = await timesOf(signedIn, path)
      const [own, database] = [await gateway(), await postgres()].map(({ run }) => (run / 1000 / turns).toFixed(0))
      console.log(`| \`${path}\` | ${first.toFixed(0)} | ${median.toFixed(0)} | ${own} | ${database} |`)
    } catch (error) {
      console.log(`| \`${path}\` | ${(error as Error).message} | | | |`)
    }
  }
}

/** Process id of the postmaster: the parent of the process that serves this connection. */
async function postmasterOf(sql: Sql): Promise<string> {
  const [row] = await sql.unsafe('select pg_backend_pid() as pid')
  return readFileSync(`/proc/${row?.pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[1] as string
}
