/** A row of the second table: measurements other than CPU per call. */

export interface Row {
  readonly what: string
  readonly contender: string
  readonly figures: Readonly<Record<string, number>>
}
