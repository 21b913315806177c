/** The column headings and words of a usage export, in the person's language. */

import { PEOPLE_COLUMNS, type PeopleLayout } from '../../ledger/reports/people-csv.ts'
import type { PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { reasonText } from './usage-reason.ts'

export function peopleLayout({ language }: PageRequest, keyLabels: ReadonlyMap<number, string>): PeopleLayout {
  return {
    headings: PEOPLE_COLUMNS.map(column => text(language, `usage.csv.column.${column}`)),
    yes: text(language, 'usage.yes'),
    no: text(language, 'usage.no'),
    keyLabel: keyId => keyLabels.get(keyId) ?? `#${keyId}`,
    outcome: ended => reasonText(language, ended) ?? text(language, 'usage.outcome.ok'),
    pricePer: per => text(language, `usage.per_unit.${per}`),
  }
}
