/** A line of the second table: what is measured beside CPU per call. */

export interface Row {
  readonly what: string
  readonly contender: string
  readonly figures: Readonly<Record<string, number>>
}
