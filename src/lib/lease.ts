/** Gives a task to at most one process per interval, by Postgres' clock. */

/** A time more than an interval ahead was taken before Postgres' clock was set back; that time may be years away. */
const TAKE = `insert into housekeeping as h (task) values ($1)
  on conflict (task) do update set ran_at = now(), runs = h.runs + 1
   where h.ran_at <= now() - make_interval(secs => $2::text::double precision)
      or h.ran_at > now() + make_interval(secs => $2::text::double precision)
  returning runs`
const FINISH = 'update housekeeping set finished_at = now() where task = $1'

type Query = (statement: string, parameters: string[]) => PromiseLike<readonly unknown[]>

/**
 * Runs `run` if the task is due and no other process has taken it, and records when it has ended without an error. No process
 * gets the task again for `everyMs`. Resolves to false if it was not this process's turn.
 */
export async function takeTurn(
  query: Query,
  { task, everyMs }: { readonly task: string; readonly everyMs: number },
  run: () => Promise<unknown>,
): Promise<boolean> {
  if ((await query(TAKE, [task, String(everyMs / 1000)])).length === 0) return false
  await run()
  await query(FINISH, [task])
  return true
}
