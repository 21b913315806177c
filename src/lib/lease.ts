/** Gives a task to at most one process per interval, by Postgres' clock. */

const TAKE = `insert into housekeeping as h (task) values ($1)
  on conflict (task) do update set ran_at = now(), runs = h.runs + 1
   where h.ran_at <= now() - make_interval(secs => $2::text::double precision)
  returning runs`

/** True when the task is due and this process got it; no process gets it again for `everyMs`. */
export async function takeLease(
  query: (statement: string, parameters: string[]) => PromiseLike<readonly unknown[]>,
  { task, everyMs }: { readonly task: string; readonly everyMs: number },
): Promise<boolean> {
  return (await query(TAKE, [task, String(everyMs / 1000)])).length > 0
}
