/** Looks at the plans that Postgres makes for the statements of the code under test. */

import { openDatabase, type Sql } from '../../src/lib/database.ts'

/**
 * Runs `work` with a connection that records the plan of each statement; returns the plans in order. `without` names kinds of plans
 * that the planner must avoid (`seqscan`), because it prefers them for the small tables of a test.
 */
export async function plansOf(
  url: string,
  without: readonly string[],
  work: (sql: Sql) => Promise<unknown>,
): Promise<readonly string[]> {
  const session = Object.fromEntries(without.map(kind => [`enable_${kind}`, 'off']))
  const own = openDatabase({ url, name: 'plan', connectionsMax: 1, session })
  const plans: string[] = []
  const recording = {
    async unsafe(statement: string, parameters: (string | null)[]) {
      const plan = await own.unsafe(`explain (costs off) ${statement}`, parameters)
      plans.push(plan.map(row => row['QUERY PLAN']).join('\n'))
      return await own.unsafe(statement, parameters)
    },
  }
  await work(recording as unknown as Sql).finally(() => own.end({ timeout: 5 }))
  return plans
}
