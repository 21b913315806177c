/** A row of the bench's second table: everything except CPU per call, which has a table of its own. */

export interface Row {
  readonly what: string
  readonly contender: string
  readonly figures: Readonly<Record<string, number>>
}
