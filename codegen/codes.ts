/** Every finding there is. A code that masks hides later ones at the same place, which would only repeat the same mistake. */

interface CodeRow {
  readonly severity: 'error' | 'warning'
  readonly masks: boolean
  /** What it means, for docs/catalogue.md. */
  readonly meaning: string
}

function error(meaning: string): CodeRow {
  return { severity: 'error', masks: false, meaning }
}

function masking(meaning: string): CodeRow {
  return { severity: 'error', masks: true, meaning }
}

function warning(meaning: string): CodeRow {
  return { severity: 'warning', masks: false, meaning }
}

export const CODES = {
  // Reading
  'missing-file': error('A file that every catalogue has is not there.'),
  'unexpected-file': error('A file in the catalogue folder that nothing reads.'),
  'unreadable-file': masking('A file that cannot be read: a link to nothing, no permission, beyond all measure.'),
  'not-utf8': masking('A byte that is not UTF-8, as editors write that save in another encoding.'),
  'yaml-syntax': masking('The file is not valid YAML, or a key stands twice.'),
  'number-form': masking('A number that YAML reads as another one than it looks like (`50.000`, `0x10`).'),
  // Schema
  'old-word': masking('A word of the catalogue that is written otherwise now; `catalogue migrate-words` does it.'),
  'unknown-key': masking('A key that the schema does not know.'),
  'missing-key': error('A key that the schema needs.'),
  'wrong-type': masking('A value of the wrong type (`1_000_000` is text).'),
  'unknown-word': masking('A word that is not in the list.'),
  'bad-form': masking('Text that does not have the form needed.'),
  'price-zero': masking('A price of 0 or less.'),
  'out-of-range': masking('A number, text or list outside its bounds.'),
  'duplicate-item': masking('A list that names something twice.'),
  'bad-date': masking('A day that is not in the calendar.'),
  // Entries
  'duplicate-id': error('Two entries of one id.'),
  'duplicate-family': error('Two files of one family.'),
  'family-file': error('A family file that is not called after its family.'),
  'unknown-prefix': error("An id with a prefix other than `req/` and the service's own."),
  'price-unit': error('A price per the wrong unit for the prefix or kind of the entry.'),
  'price-floor': error('A price below the floor.'),
  'price-outlier': warning('A price ten times off its neighbours, or off the floor where there are none.'),
  'cost-incomplete': error(
    'A cost without what it needs: prices of input and output, something that is paid for, a rate of exchange.',
  ),
  'below-cost': warning('Entries that are sold for less than they cost the operator.'),
  'price-borrowed': error('A price that is that of another entry, by an anchor.'),
  count: error('There are more or fewer entries than expected.'),
  'other-model': error('An entry whose id without its prefix is an entry of another model.'),
  'limits-missing': error('A chat model without its limits.'),
  'limit-wider': error('An entry with wider limits than its model, or more output than context.'),
  'capability-fact': error('A capability without the fact it needs, or a fact without its capability.'),
  // References
  'alias-unknown': error('An alias of something that is not an entry.'),
  'alias-of-alias': error('An alias of an alias.'),
  'alias-shadows-id': error('An alias called like an entry, in the same letters or others.'),
  'alias-shadows-vendor': error("An alias that is an entry behind its vendor's name."),
  'alias-repeated': error('Two aliases that differ by case only.'),
  'vendor-unknown': error('A name of a vendor that no family has.'),
  'vendor-taken': error('A name of a vendor that means something else already.'),
  'alias-retired': error('An alias of, or a fallback to, an entry that retires.'),
  'fallback-unknown': error('The fallback is not an entry.'),
  'fallback-not-chat': error('The fallback does not chat.'),
  'successor-missing': error('An entry that retires without a successor.'),
  'successor-unknown': error('A successor that is not an entry.'),
  'successor-unfit': error('A successor that retires itself, or is of another kind.'),
  'successor-unit': error('A successor that is priced by another unit, and no acknowledgement of it.'),
  'successor-dearer': error('A successor that costs over 50 % more, and no acknowledgement of its price.'),
  retired: warning('An entry whose end is past: its successor serves its calls.'),
  'retires-soon': warning('An entry that ends within 60 days.'),
  'date-order': error('A retirement before the warning, or dated values that do not follow one another.'),
  'far-date': warning('A day that is years ahead.'),
  'acknowledgement-stale': error('An acknowledgement of a price that is not in force.'),
  // Upstreams
  'unknown-upstream': error('A target at an upstream that is not in upstreams.yaml.'),
  'unused-upstream': warning('An upstream that no entry uses.'),
  'upstream-repeated': error('The same target twice in one list.'),
  'target-shared': warning('Two models that go to one model of an upstream.'),
  'upstream-weightless': error('A list of targets whose weights are all 0.'),
  'format-unreachable': error('A target at an upstream that does not speak its format.'),
  'endpoint-unserved': error('An endpoint that no target of the entry serves.'),
  'auth-incomplete': error('An auth scheme without what it needs, or with what it does not read.'),
  'path-doubled': error('A part of an address that stands in its path too (`/v1`).'),
  'header-reserved': error('A header that the connection or the gateway writes.'),
  'field-billed': error('A member of every body that is billed, metered or needed.'),
  credential: error('A credential in the catalogue.'),
  'insecure-url': error('An address without TLS.'),
  // Wires
  'wire-repeated': error('A wire twice in one list.'),
  'wire-path': error('A wire that no upstream of its place has a path for.'),
  'wire-standard': error('A list of wires without the one that the gateway uses.'),
  'wire-word': error('A word of the dialect at a wire that it means nothing in.'),
  // Rules
  'rule-billed': error('A rule that touches a field that is billed or metered.'),
  'rule-needed': error('A rule that takes away or replaces what a call cannot do without.'),
  'rule-endpoint': error('A rule for bodies of an endpoint that nothing sends where the rule stands.'),
  'rule-star': error('A move to more places than it comes from.'),
  'rule-vain': error('A rule that does nothing.'),
  'rule-shadowed': error('A rule whose effect a later rule undoes.'),
  // Extras
  'extra-unknown': error('An extra that catalogue.yaml does not say how to recognise.'),
  'extra-uncounted': error('A tool sold by the use whose uses no reply is known to tell.'),
  // Generated files
  stale: error('A generated file that does not agree with its sources.'),
} as const satisfies Record<string, CodeRow>

export type Code = keyof typeof CODES
