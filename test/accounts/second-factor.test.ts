import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countSealedAuthenticators } from '../../src/accounts/authenticator-seal.ts'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE, listActions } from '../../src/accounts/operator-log.ts'
import { countRecoveryCodes } from '../../src/accounts/recovery-codes.ts'
import { readSecretsInUse, rotateKeys } from '../../src/accounts/rotate.ts'
import {
  enrolAuthenticator,
  giveSecondFactor,
  isFactorFresh,
  offerAuthenticator,
  readOffer,
  renewRecoveryCodes,
  resetSecondFactor,
} from '../../src/accounts/second-factor.ts'
import { listSessions, openSession, readSession } from '../../src/accounts/sessions.ts'
import type { OpenedSession, Visitor } from '../../src/accounts/types.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { codeOf, wrongCode } from '../support/authenticator.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { newcomer, testPeople, visitor } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
const people = testPeople(sql)
const encryption = generateSecretSet()
const secrets = { encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', encryption) }
beforeAll(() => Promise.all(Array.from({ length: 8 }, () => sql.unsafe('select pg_sleep(0.05)'))))
afterAll(() => database.drop())

const now = new Date()
const code = (secret: string, stepsLater = 0) => codeOf(secret, { stepsLater, nowMs: now.getTime() })

interface Enrolled {
  readonly opened: OpenedSession
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

/** Enrols an operator with the previous time step's code, so that the current one can still be used. */
async function enrolled(): Promise<Enrolled> {
  const opened = await newcomer(people)
  const { offer, authenticator } = await offerAuthenticator(people, secrets, opened.session)
  const given = { offer, code: code(authenticator.secret, -1), replace: false, language: 'en', now } as const
  const answer = await enrolAuthenticator(people, secrets, opened.session, given)
  if (answer.outcome !== 'enrolled') throw new Error(answer.outcome)
  return { opened, secret: authenticator.secret, recoveryCodes: answer.recoveryCodes }
}

const give = ({ opened }: Pick<Enrolled, 'opened'>, typed: string, who: Visitor = visitor(), at = now) =>
  giveSecondFactor(people, secrets, { visitor: who, session: opened.session, typed, now: at })

describe('setting up a second factor', () => {
  test('needs a code of the new authenticator, ends other sessions, and makes ten recovery codes', async () => {
    const opened = await newcomer(people)
    const elsewhere = await openSession(sql, people.limits, { accountId: opened.session.accountId, visitor: visitor() })
    const { offer, authenticator } = await offerAuthenticator(people, secrets, opened.session)
    expect(authenticator.uri).toMatch(
      /^otpauth:\/\/totp\/SVC:person\d+%40example\.com\?issuer=SVC&secret=[A-Z2-7]{32}&/,
    )
    expect(await readOffer(people, secrets, opened.session, offer)).toEqual(authenticator)
    const enrol = (typed: string, given = offer) =>
      enrolAuthenticator(people, secrets, opened.session, {
        offer: given,
        code: typed,
        replace: false,
        language: 'en',
        now,
      } as const)
    for (const typed of [wrongCode(authenticator.secret), '', '12345', 'abcdef']) {
      expect(await enrol(typed)).toEqual({ outcome: 'wrong_code' })
    }
    const right = code(authenticator.secret)
    for (const given of ['', '1.2.3', `${offer.slice(0, -3)}AAA`, offer.replace(/^1/, '9')]) {
      expect(await enrol(right, given)).toEqual({ outcome: 'bad_offer' })
    }
    expect((await readSession(people, opened.token))?.hasSecondFactor).toBe(false)
    const answer = await enrol(`${right.slice(0, 3)} ${right.slice(3)}`)
    expect(answer.outcome === 'enrolled' && new Set(answer.recoveryCodes).size).toBe(10)
    expect(await readSession(people, opened.token)).toMatchObject({
      hasSecondFactor: true,
      secondFactorAt: expect.any(Date),
    })
    expect(await readSession(people, elsewhere.token)).toBeNull()
    expect(await listActions(sql, { accountId: opened.session.accountId })).toMatchObject([{ action: 'factor.enrol' }])
    // A set-up page that was opened earlier is refused: replacing an authenticator requires the existing one.
    const other = await offerAuthenticator(people, secrets, opened.session)
    expect(await enrol(code(other.authenticator.secret), other.offer)).toEqual({ outcome: 'exists' })
  })

  test('a set-up page that was opened before the account got a passkey is refused, too', async () => {
    const { session } = await newcomer(people)
    const { offer, authenticator } = await offerAuthenticator(people, secrets, session)
    await sql`insert into passkey (credential_id, account_id, public_key, sign_count, transports, name)
      values (decode('01', 'hex'), ${session.accountId}, decode('02', 'hex'), 0, '', 'phone')`
    const given = { offer, code: code(authenticator.secret), language: 'en', now } as const
    const enrol = (replace: boolean) => enrolAuthenticator(people, secrets, session, { ...given, replace })
    expect(await enrol(false)).toEqual({ outcome: 'exists' })
    expect((await enrol(true)).outcome).toBe('enrolled')
  })

  test('an offer made for one account is worth nothing for another', async () => {
    const [one, other] = [await newcomer(people), await newcomer(people)]
    const { offer, authenticator } = await offerAuthenticator(people, secrets, one.session)
    const given = { offer, code: code(authenticator.secret), replace: false, language: 'en', now } as const
    expect(await enrolAuthenticator(people, secrets, other.session, given)).toEqual({ outcome: 'bad_offer' })
  })

  test('the secret is sealed at rest, and recovery codes are hashes', async () => {
    const { opened, secret, recoveryCodes } = await enrolled()
    const { accountId } = opened.session
    const [row] = await sql`select encode(ciphertext, 'escape') as text from totp where account_id = ${accountId}`
    expect(row?.text).not.toContain(secret)
    const hashes =
      await sql`select encode(code_hash, 'escape') as text from recovery_code where account_id = ${accountId}`
    for (const each of recoveryCodes) expect(JSON.stringify(hashes)).not.toContain(each)
  })
})

describe('entering the second factor', () => {
  test('a code works once, even for eight attempts at the same moment, and no code of an earlier step works after it', async () => {
    const person = await enrolled()
    const right = code(person.secret)
    const answers = await Promise.all(Array.from({ length: 8 }, () => give(person, right)))
    expect(answers.map(answer => answer.outcome).toSorted()).toEqual(['confirmed', ...Array(7).fill('used')])
    expect(await give(person, code(person.secret, -1))).toEqual({ outcome: 'used' })
    expect(await give(person, code(person.secret, 1))).toEqual({ outcome: 'confirmed' })
    expect(await give(person, right)).toEqual({ outcome: 'used' })
  })

  test('the code used for the set-up is not accepted again', async () => {
    const person = await enrolled()
    expect(await give(person, code(person.secret, -1))).toEqual({ outcome: 'used' })
  })

  test('codes more than one time step away are wrong', async () => {
    const person = await enrolled()
    for (const steps of [-3, -2, 2, 3]) expect((await give(person, code(person.secret, steps))).outcome).toBe('refused')
  })

  test('a recovery code works once, however it is typed, even for eight attempts at the same moment', async () => {
    const person = await enrolled()
    const [first, second, third] = person.recoveryCodes as [string, string, string]
    const answers = await Promise.all(Array.from({ length: 8 }, () => give(person, first)))
    expect(answers.filter(({ outcome }) => outcome === 'confirmed')).toHaveLength(1)
    await sql`delete from throttle`
    const typed = ` ${second.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `
    expect(await give(person, typed)).toEqual({ outcome: 'confirmed' })
    expect(await countRecoveryCodes(sql, person.opened.session.accountId)).toBe(8)
    await renewRecoveryCodes(people, person.opened.session)
    expect(await give(person, third)).toEqual({ outcome: 'refused' })
    expect(await countRecoveryCodes(sql, person.opened.session.accountId)).toBe(10)
  })

  test('stays fresh for a while, only in the session in which it was entered', async () => {
    const person = await enrolled()
    const { accountId } = person.opened.session
    const other = await openSession(sql, people.limits, { accountId, visitor: visitor() })
    await give(person, code(person.secret))
    const session = (await readSession(people, person.opened.token))!
    const at = session.secondFactorAt!.getTime()
    const fresh = (milliseconds: number) => isFactorFresh(people, session, new Date(at + milliseconds))
    expect([fresh(0), fresh(600_000), fresh(600_001)]).toEqual([true, true, false])
    expect((await readSession(people, other.token))?.secondFactorAt).toBeNull()
  })

  test('an account without a second factor accepts no code', async () => {
    expect(await give({ opened: await newcomer(people) }, '000000')).toEqual({ outcome: 'refused' })
  })
})

describe('guessing', () => {
  test('of 100 guesses at once, from any networks and sessions, ten are checked, and the next one has to wait', async () => {
    const person = await enrolled()
    const wrong = wrongCode(person.secret)
    const answers = await Promise.all(Array.from({ length: 100 }, () => give(person, wrong)))
    expect(answers.filter(({ outcome }) => outcome === 'refused')).toHaveLength(10)
    const { accountId } = person.opened.session
    const opened = await openSession(sql, people.limits, { accountId, visitor: visitor() })
    const right = code(person.secret)
    expect(await give({ opened }, right)).toMatchObject({ outcome: 'throttled', retryAfterSeconds: expect.any(Number) })
  })

  test('whoever has seen a code that was used does not get more guesses by it', async () => {
    const person = await enrolled()
    const right = code(person.secret)
    await give(person, right)
    const wrong = wrongCode(person.secret)
    for (let guess = 0; guess < 9; guess++) expect((await give(person, wrong)).outcome).toBe('refused')
    expect(await give(person, right)).toEqual({ outcome: 'used' })
    expect(await give(person, wrong)).toEqual({ outcome: 'refused' })
    expect((await give(person, wrong)).outcome).toBe('throttled')
  })

  test('guesses from elsewhere do not lock out a device on which the factor was entered before; it has five attempts of its own', async () => {
    const person = await enrolled()
    const known = visitor({ device: person.opened.device })
    expect(await give(person, code(person.secret), known)).toEqual({ outcome: 'confirmed' })
    const wrong = wrongCode(person.secret)
    for (let guess = 0; guess < 12; guess++) await give(person, wrong)
    expect((await give(person, wrong)).outcome).toBe('throttled')
    expect(await give(person, code(person.secret, 1), known)).toEqual({ outcome: 'confirmed' })
    for (let guess = 0; guess < 5; guess++) expect((await give(person, wrong, known)).outcome).toBe('refused')
    expect((await give(person, code(person.secret, 1), known)).outcome).toBe('throttled')
    // One person's wrong codes do not throttle other people.
    const other = await enrolled()
    expect(await give(other, code(other.secret))).toEqual({ outcome: 'confirmed' })
  })

  test('a recovery code, which nobody can guess, lets its owner in while somebody else guesses', async () => {
    const person = await enrolled()
    for (let guess = 0; guess < 12; guess++) await give(person, wrongCode(person.secret))
    expect((await give(person, code(person.secret))).outcome).toBe('throttled')
    expect((await give(person, '0000-0000-0000-0000')).outcome).toBe('refused')
    expect(await give(person, person.recoveryCodes[0]!)).toEqual({ outcome: 'confirmed' })
  })

  test('a device that only knows the password is not a known device', async () => {
    const person = await enrolled()
    const { accountId } = person.opened.session
    for (let session = 0; session < 3; session++) {
      const thief = visitor()
      const opened = await openSession(sql, people.limits, { accountId, visitor: thief })
      const who = { ...thief, device: opened.device }
      for (let guess = 0; guess < 5; guess++) await give({ opened }, wrongCode(person.secret), who)
    }
    expect((await give(person, code(person.secret))).outcome).toBe('throttled')
  })
})

test('an operator who has lost everything has the factor reset, with a reason, and has to sign in again', async () => {
  const person = await enrolled()
  const { accountId } = person.opened.session
  const reset = { accountId, by: COMMAND_LINE, reason: 'phone in the river' }
  expect(await resetSecondFactor(sql, reset)).toEqual({ email: person.opened.session.email, language: 'vi' })
  expect(await resetSecondFactor(sql, reset)).toBeNull()
  expect(await listSessions(people, accountId)).toEqual([])
  expect(await countRecoveryCodes(sql, accountId)).toBe(0)
  expect(await listActions(sql, { accountId, limit: 1 })).toMatchObject([
    { action: 'factor.reset', reason: 'phone in the river' },
  ])
})

test('a rotation encrypts authenticators with the new key, and reports which keys they need', async () => {
  const person = await enrolled()
  const next = generateSecretSet().replace('1:', '2:')
  const both = parseSecretSet('KEY_ENCRYPTION_KEYS', `${encryption},${next}`)
  const peppers = parseSecretSet('KEY_PEPPERS', generateSecretSet())
  const all = { service: 'svc', peppers, encryption: both }
  const before = [...(await countSealedAuthenticators(sql))]
  expect(before).toEqual([[1, expect.any(Number)]])
  expect((await readSecretsInUse(sql, all)).encryption.get(1)).toBe(before[0]?.[1])
  const damaged = await enrolled()
  await sql`update totp set ciphertext = '\\x00'::bytea || ciphertext where account_id = ${damaged.opened.session.accountId}`
  expect(await rotateKeys(sql, all)).toEqual({
    rotated: 0,
    unreadable: [],
    unreadableAuthenticators: [damaged.opened.session.accountId],
  })
  expect([...(await countSealedAuthenticators(sql))].toSorted()).toEqual([
    [1, 1],
    [2, before[0]?.[1]],
  ])
  const after = { encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', next) }
  const given = { visitor: visitor(), session: person.opened.session, typed: code(person.secret), now }
  expect(await giveSecondFactor(people, after, given)).toEqual({ outcome: 'confirmed' })
})

test('a role is granted, changed and revoked once; an operator from before roles existed is an owner', async () => {
  const { session, token } = await newcomer(people)
  const { accountId } = session
  const set = (role: Parameters<typeof setRole>[1]['role']) => setRole(sql, { accountId, role, by: COMMAND_LINE })
  expect([await set('support'), await set('support'), await set('finance')]).toEqual([true, false, true])
  expect(await readSession(people, token)).toBeNull()
  const roleNow = async () => (await openSession(sql, people.limits, { accountId, visitor: visitor() })).session.role
  expect(await roleNow()).toBe('finance')
  await sql`update account set is_operator = true, operator_role = null where account_id = ${accountId}`
  expect(await roleNow()).toBe('owner')
  expect([await set('owner'), await set('read-only'), await set(null), await set(null)]).toEqual([
    false,
    true,
    true,
    false,
  ])
  expect(await roleNow()).toBeNull()
  expect(await listActions(sql, { accountId, limit: 2 })).toMatchObject([
    { action: 'operator.off', subject: '' },
    { action: 'operator.on', subject: 'read-only' },
  ])
})
