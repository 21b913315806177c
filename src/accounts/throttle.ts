/**
 * Waiting times after failed attempts, and hourly quotas. Both are stored in Postgres, so that they survive restarts and apply
 * to all processes together.
 */

import { createHash } from 'node:crypto'
import type { AnySql, Sql } from '../lib/database.ts'
import type { PeopleLimits } from './limits.ts'

/** Values of the column `throttle.kind`. Never reuse a number. */
const KINDS = {
  account_failures: 1,
  network_failures: 2,
  mails_to_address: 3,
  registrations_of_network: 4,
  registrations: 5,
  host_failures: 6,
  account_network_failures: 7,
  device_failures: 8,
  known_devices: 9,
  factor_failures: 10,
  resets_to_address: 11,
  changes_of_email: 12,
  right_passwords: 13,
  attempts_of_network: 14,
} as const

export type FailureKind =
  | 'account_failures'
  | 'network_failures'
  | 'host_failures'
  | 'account_network_failures'
  | 'device_failures'
  | 'factor_failures'
export type QuotaKind =
  | 'mails_to_address'
  | 'resets_to_address'
  | 'changes_of_email'
  | 'right_passwords'
  | 'attempts_of_network'
  | 'registrations_of_network'
  | 'registrations'

/**
 * Every attempt counts as a failure before the password is checked, so that parallel guesses gain nothing; forgiveAttempt removes
 * it again after a success. Attempts made during a waiting time do not count. Each failure after the waiting time doubles the
 * next waiting time.
 */
const ATTEMPT = `
insert into throttle as t (kind, subject, attempts) values ($1::text::smallint, $2, 1)
on conflict (kind, subject) do update set
  attempts = case when t.blocked_until > now() then t.attempts
                  when t.at < now() - make_interval(secs => $6::text::integer) then 1
                  else t.attempts + 1 end,
  at = case when t.blocked_until > now() then t.at else now() end,
  blocked_until = case when t.blocked_until > now() then t.blocked_until
                       when t.at < now() - make_interval(secs => $6::text::integer) then null
                       when t.attempts + 1 >= $3::text::integer then now() + make_interval(secs =>
                         least($5::text::integer, $4::text::integer * power(2, least(20, t.attempts + 1 - $3::text::integer))))
                  end
returning greatest(0, ceil(extract(epoch from old.blocked_until - now())))::integer as wait`
const FORGET = 'delete from throttle where kind = $1::text::smallint and subject = $2'
const TAKE_BACK = `update throttle set attempts = greatest(0, attempts - 1),
    blocked_until = case when attempts > $3::text::integer then blocked_until end
  where kind = $1::text::smallint and subject = $2`
const QUOTA = `
insert into throttle as t (kind, subject, attempts) values ($1::text::smallint, $2, 1)
on conflict (kind, subject) do update set
  attempts = case when t.at < now() - interval '1 hour' then 1 else least(t.attempts + 1, 1000000000) end,
  at = case when t.at < now() - interval '1 hour' then now() else t.at end
returning attempts, greatest(1, ceil(extract(epoch from at + interval '1 hour' - now())))::integer as wait`

const USED_UP = `select greatest(1, ceil(extract(epoch from at + interval '1 hour' - now())))::integer as wait from throttle
  where kind = $1::text::smallint and subject = $2 and attempts >= $3::text::integer and at >= now() - interval '1 hour'`

const KNOW = `insert into throttle as t (kind, subject, attempts) values (${KINDS.known_devices}, $1, 0)
  on conflict (kind, subject) do update set at = now() returning old.at is null as is_new`
const IS_KNOWN = `select from throttle where kind = ${KINDS.known_devices} and subject = $1
  and at > now() - make_interval(secs => $2::text::integer)`
const SWEEP = `delete from throttle where at < now() - make_interval(secs =>
  case when kind = ${KINDS.known_devices} then $2::text::integer else $1::text::integer end)
  and (blocked_until is null or blocked_until < now())`

/** Hashes an email address for the column `subject`, so that addresses typed by strangers are not stored. */
export function addressSubject(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('hex')
}

/** Counts an attempt. Returns how many seconds to wait, or 0 if the attempt may proceed. */
export async function countAttempt(
  sql: Sql,
  limits: PeopleLimits,
  { kind, subject }: { kind: FailureKind; subject: string },
): Promise<number> {
  const { throttleFirstSeconds: firstSeconds, throttleForgetSeconds: forgetSeconds } = limits
  // The waiting time for an email address never grows. A distributed attack can slow the owner's sign-in down, but not lock the
  // owner out.
  const longestSeconds = kind === 'account_failures' ? firstSeconds : limits.throttleSeconds
  const numbers = [failuresMaxOf(limits, kind), firstSeconds, longestSeconds, forgetSeconds]
  const row = (await sql.unsafe(ATTEMPT, [String(KINDS[kind]), subject, ...numbers.map(String)]))[0]!
  return row.wait ?? 0
}

function failuresMaxOf(limits: PeopleLimits, kind: FailureKind): number {
  switch (kind) {
    case 'account_failures':
      return limits.accountFailuresMax
    case 'network_failures':
      return limits.networkFailuresMax
    case 'host_failures':
      return limits.hostFailuresMax
    case 'factor_failures':
      return limits.factorFailuresMax
    case 'account_network_failures':
    case 'device_failures':
      return limits.guessesMax
  }
}

/**
 * Call this after a success. It clears an account's failures. For a host or network it only removes this attempt; otherwise
 * attackers could go on guessing passwords for ever, by signing in to an account of their own from time to time.
 */
export async function forgiveAttempt(
  sql: Sql,
  limits: PeopleLimits,
  { kind, subject }: { kind: FailureKind; subject: string },
): Promise<void> {
  if (kind === 'host_failures' || kind === 'network_failures') await takeBackAttempt(sql, limits, { kind, subject })
  else await sql.unsafe(FORGET, [String(KINDS[kind]), subject])
}

/** Removes one attempt from the count, and keeps earlier failures. */
export async function takeBackAttempt(
  sql: Sql,
  limits: PeopleLimits,
  { kind, subject }: { kind: FailureKind; subject: string },
): Promise<void> {
  await sql.unsafe(TAKE_BACK, [String(KINDS[kind]), subject, String(failuresMaxOf(limits, kind))])
}

/** Hashes a device and an email address for the column `subject`. */
export function deviceSubject(device: string, email: string): string {
  return createHash('sha256')
    .update(`${device}|${addressSubject(email)}`)
    .digest('hex')
}

/** Remembers a sign-in, given the subject of its device and email address. Returns whether it is the first. */
export async function rememberDevice(sql: AnySql, subject: string): Promise<boolean> {
  return Boolean((await sql.unsafe(KNOW, [subject]))[0]?.is_new)
}

export async function isDeviceKnown(sql: AnySql, limits: PeopleLimits, subject: string): Promise<boolean> {
  return (await sql.unsafe(IS_KNOWN, [subject, String(limits.deviceSeconds)])).length > 0
}

/** Deletes rows so old that they no longer affect any limit. */
export async function sweepThrottle(sql: AnySql, limits: PeopleLimits): Promise<void> {
  const seconds = [Math.max(limits.throttleForgetSeconds, 3_600), limits.deviceSeconds]
  await sql.unsafe(SWEEP, seconds.map(String))
}

interface Quota {
  readonly kind: QuotaKind
  readonly subject: string
  /** Uses per hour. */
  readonly max: number
}

/** Returns 0 or, if there were `max` uses within the hour, the seconds until that hour ends. Does not count a use. */
export async function readQuota(sql: Sql, { kind, subject, max }: Quota): Promise<number> {
  const row = (await sql.unsafe(USED_UP, [String(KINDS[kind]), subject, String(max)]))[0]
  return row?.wait ?? 0
}

/** Counts one use. Returns 0 or, after more than `max` uses within the hour, the seconds until that hour ends. */
export async function countQuota(sql: Sql, { kind, subject, max }: Quota): Promise<number> {
  const row = (await sql.unsafe(QUOTA, [String(KINDS[kind]), subject]))[0]!
  return row.attempts > max ? row.wait : 0
}
