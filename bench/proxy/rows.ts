/** A row of the bench's second table, which has everything but CPU per call. */

export interface Row {
  readonly what: string
  readonly contender: string
  readonly figures: Readonly<Record<string, number>>
}
