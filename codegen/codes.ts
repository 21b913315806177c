/** The kinds of findings. A finding that `masks` hides later ones at the same place, which would only restate the mistake. */

interface CodeRow {
  readonly severity: 'error' | 'warning'
  readonly masks: boolean
  /** What the finding means, for docs/catalogue.md. */
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
  'missing-file': error('A required file is missing.'),
  'unexpected-file': error('Nothing reads this file in the catalogue folder.'),
  'unreadable-file': masking('A file cannot be read: a dangling link, no permission, too large.'),
  'not-utf8': masking('A byte is not UTF-8; the editor probably saved in another encoding.'),
  'yaml-syntax': masking('The file is not valid YAML, or repeats a key.'),
  'number-form': masking('YAML reads a number differently from how it looks (`50.000`, `0x10`).'),
  // Schema
  'old-word': masking('A catalogue word has since been renamed; `catalogue migrate-words` rewrites it.'),
  'unknown-key': masking('The schema does not know a key.'),
  'missing-key': error('A required key is missing.'),
  'wrong-type': masking('A value has the wrong type (`1_000_000` is text).'),
  'unknown-word': masking('A word is not in the list of allowed words.'),
  'bad-form': masking('A text does not have the required form.'),
  'price-zero': masking('A price is 0 or less.'),
  'out-of-range': masking('A number, text or list is out of bounds.'),
  'duplicate-item': masking('A list names something twice.'),
  'bad-date': masking('A date does not exist in the calendar.'),
  // Entries
  'duplicate-id': error('Two entries have the same id.'),
  'duplicate-model': error('Two models of a family have the same name.'),
  'duplicate-family': error('Two files define the same family.'),
  'family-file': error('A family file is not named after its family.'),
  'unknown-prefix': error("An id has a prefix other than `req/` and the service's own."),
  'price-unit': error("A price has the wrong unit for the entry's prefix or kind."),
  'price-floor': error('A price is below the floor.'),
  'price-outlier': warning(
    'A price is off by a factor of ten from its neighbours, or from the floor where there are none; or a call costs as much as a million tokens.',
  ),
  'cost-incomplete': error('A cost lacks an input or output price, names no price at all, or needs an exchange rate.'),
  'cost-odd': warning(
    'Costs are out of proportion (output below input, a cheaper tier, per token instead of per million), or begin in the future only.',
  ),
  'below-cost': warning('Entries are sold for less than they cost the operator.'),
  'price-borrowed': error("A price is a YAML alias of another entry's price."),
  count: error('There are more or fewer entries than expected.'),
  'other-model': error("An entry's id without its prefix is an entry of another model."),
  'limits-missing': error('A chat model does not state its limits.'),
  'limit-wider': error('An entry has wider limits than its model, or more output than context.'),
  'capability-fact': error('A capability lacks the fact it needs, or a fact lacks its capability.'),
  // References
  'alias-unknown': error('An alias points to something that is not an entry.'),
  'alias-of-alias': error('An alias points to another alias.'),
  'alias-shadows-id': error('An alias has the name of an entry, in the same case or another.'),
  'alias-shadows-vendor': error("An alias is an entry with its vendor's name in front."),
  'alias-repeated': error('Two aliases differ only in case.'),
  'alias-unit': error('An alias under `req/` points to an entry priced per token, without an acknowledgement.'),
  'name-reserved': error('An alias or an entry is called `fallback`, the name of a setting.'),
  'vendor-unknown': error('No family has the named vendor.'),
  'vendor-taken': error('A vendor name already means something else.'),
  'alias-retired': error('An alias or the fallback points to an entry that retires.'),
  'fallback-unknown': error('The fallback is not an entry.'),
  'fallback-not-chat': error('The fallback is not a chat entry.'),
  'successor-missing': error('An entry retires without a successor.'),
  'successor-unknown': error('A successor is not an entry.'),
  'successor-unfit': error('A successor retires too, or is of another kind.'),
  'successor-unit': error('A successor is priced in another unit, without an acknowledgement.'),
  'successor-dearer': error('A successor costs over 50 % more, without an acknowledgement of its price.'),
  'successor-lacks': warning('A successor lacks a capability, context or the channel of the entry that it replaces.'),
  retired: warning('An entry has retired: its successor serves its calls.'),
  'retires-soon': warning('An entry retires within 60 days.'),
  'date-order': error('A retirement comes before its warning or the release, or dated values are out of order.'),
  'far-date': warning('A date is years ahead.'),
  'acknowledgement-stale': error('An acknowledged price is not in effect.'),
  // Upstreams
  'unknown-upstream': error("A target's upstream is not in upstreams.yaml."),
  'unused-upstream': warning('No entry uses an upstream.'),
  'upstream-repeated': error('A list has the same target twice.'),
  'target-shared': warning('Two models are served by the same upstream model.'),
  'channel-shared': warning('An entry on the AWS channel goes where the standard entry of its model goes.'),
  'upstream-weightless': error('All weights in a list of targets are 0.'),
  'format-unreachable': error("A target's upstream does not speak its format."),
  'format-kind': error("A target's format is for another kind of model than its entry."),
  'endpoint-unserved': error('No target of an entry serves one of its endpoints.'),
  'auth-incomplete': error('An auth scheme lacks a setting it needs, or has one it ignores.'),
  'path-doubled': error('Part of an address is repeated in its path (`/v1`).'),
  'path-repeated': error('Two formats of an upstream have the same path.'),
  'header-reserved': error('A header is set by the connection, the gateway or another key.'),
  'field-billed': error('A member added to every body is billed, metered or needed, or switches on an extra.'),
  credential: error('The catalogue contains a credential.'),
  'insecure-url': error('An address does not use TLS.'),
  // Wires
  'wire-repeated': error('A list has the same wire twice.'),
  'wire-path': error('No upstream here has a path for a wire.'),
  'wire-standard': error('A list of wires lacks the one that the gateway uses.'),
  'wire-word': error('A dialect word has no meaning in its wire.'),
  'usage-shared': error('Two token counts are read from one place of replies, or one from the total.'),
  // Rules
  'rule-billed': error('A rule touches a field that is billed or metered, or switches on an extra.'),
  'rule-needed': error('A rule removes or replaces something that every call needs.'),
  'rule-endpoint': error('A rule is for an endpoint whose bodies never go upstream here.'),
  'rule-star': error('A move has more `*` in `to` than in `from`.'),
  'rule-vain': error('A rule does nothing.'),
  'rule-shadowed': error('Another rule undoes the effect of a rule, or leaves it nothing to do.'),
  // Extras
  'extra-unknown': error('catalogue.yaml does not say how to recognise an extra.'),
  'extra-uncounted': error('A tool is sold per use, but no reply is known to count its uses.'),
  // Generated files
  stale: error('A generated file is out of date.'),
} as const satisfies Record<string, CodeRow>

export type Code = keyof typeof CODES
