/**
 * The notice that operators show on every page until a set time, and the maintenance notice, which every page shows during
 * maintenance.
 */

import type { AnySql, Sql } from '../lib/database.ts'

export interface Banner {
  readonly vi: string
  readonly en: string
  readonly until: Date
}

export const BANNER_CHARACTERS_MAX = 300

const READ = `select b.text_vi, b.text_en, b.until, m.enabled as maintenance
  from maintenance m left join banner b on b.until > now()`
const SET = `insert into banner (text_vi, text_en, until) values ($1, $2, $3::text::timestamptz)
  on conflict (singleton) do update set text_vi = excluded.text_vi, text_en = excluded.text_en, until = excluded.until,
    changed_at = now()`
const CLEAR = 'delete from banner returning singleton'

export async function setBanner(sql: AnySql, { vi, en, until }: Banner): Promise<void> {
  await sql.unsafe(SET, [vi, en, until.toISOString()])
}

/** Returns false if there was no banner. */
export async function clearBanner(sql: AnySql): Promise<boolean> {
  return (await sql.unsafe(CLEAR)).length > 0
}

/** What every page shows at the top. */
export interface Announcements {
  readonly banner: Banner | null
  readonly maintenance: boolean
}

const NOTHING: Announcements = { banner: null, maintenance: false }

export async function readAnnouncements(sql: AnySql): Promise<Announcements> {
  const row = (await sql.unsafe(READ))[0]
  if (row === undefined) return NOTHING
  const banner = row.until === null ? null : { vi: row.text_vi, en: row.text_en, until: row.until }
  return { banner, maintenance: row.maintenance }
}

export interface AnnouncementBoard {
  /** Returns a state that is at most a few seconds old or, if the database is not responding promptly, the last known one. */
  read(): Promise<Announcements>
  /** Drops the cached state. Call it after changing the state in this process. */
  forget(): void
}

const FRESH_MS = 5_000
/** Longest time that a page waits for the announcements, in ms. */
const WAIT_MS = 300

export function createAnnouncementBoard(sql: Sql, nowMs: () => number): AnnouncementBoard {
  let seen = NOTHING
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null
  const renew = () => {
    reading ??= readAnnouncements(sql)
      .then(
        found => {
          seen = found
        },
        () => {},
      )
      .finally(() => {
        readAt = nowMs()
        reading = null
      })
    return reading
  }
  return {
    async read() {
      if (nowMs() - readAt >= FRESH_MS) {
        let timer: NodeJS.Timeout | undefined
        const late = new Promise<void>(resolve => {
          timer = setTimeout(resolve, WAIT_MS)
        })
        await Promise.race([renew(), late])
        clearTimeout(timer)
      }
      const { banner } = seen
      return banner !== null && banner.until.getTime() <= nowMs() ? { ...seen, banner: null } : seen
    },
    forget() {
      readAt = Number.NEGATIVE_INFINITY
    },
  }
}
