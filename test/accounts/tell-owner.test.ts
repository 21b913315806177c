/** Notices to owners about changes of their accounts. */

import { expect, test } from 'vitest'
import { MAILS } from '../../src/accounts/mail-texts.ts'
import { tellOwner } from '../../src/accounts/tell-owner.ts'
import type { PeopleServices } from '../../src/accounts/types.ts'
import type { Sql } from '../../src/lib/database.ts'
import type { MailMessage } from '../../src/lib/mail.ts'
import { testPeople } from './people.ts'

/** Services whose mail server refuses the first `refusals` emails. */
function peopleWith(refusals: number, limits: Partial<PeopleServices['limits']>) {
  const people = testPeople(null as unknown as Sql, limits)
  const sent: MailMessage[] = []
  let left = refusals
  const send = async (mail: MailMessage) => {
    if (left-- > 0) throw new Error('421 try again later')
    sent.push(mail)
  }
  return { ...people, mailer: { send, close: () => {} }, sent }
}

const tell = (people: PeopleServices) => tellOwner(people, 'ann@example.com', MAILS.factorOff.en)

test('a notice that the mail server refuses is sent once it accepts emails again', async () => {
  const people = peopleWith(2, { noticePausesMs: [1, 1] })
  tell(people)
  await expect.poll(() => people.sent.map(({ to }) => to)).toEqual(['ann@example.com'])
  expect(people.failures).toHaveLength(2)
})

test('a notice is given up after its last attempt', async () => {
  const people = peopleWith(9, { noticePausesMs: [1, 1] })
  tell(people)
  await expect.poll(() => people.failures).toHaveLength(3)
  expect(people.sent).toEqual([])
})

test('a limited number of notices wait for another attempt', async () => {
  const people = peopleWith(4, { noticePausesMs: [50], noticesWaitingMax: 3 })
  for (let count = 0; count < 4; count++) tell(people)
  await expect.poll(() => people.sent).toHaveLength(3)
  expect(people.failures).toHaveLength(4)
})
