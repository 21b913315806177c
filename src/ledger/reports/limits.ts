export interface ReportLimits {
  /** Most rows of a page. */
  readonly pageRowsMax: number
  /**
   * Most rows read by one statement. With `windowsMax`, the most statements per page, keeps a filter that matches little from
   * reading everything.
   */
  readonly windowRows: number
  readonly windowsMax: number
  /** Most rows per chunk of an export. `csvWindowRows` limits the rows read for one chunk. */
  readonly csvPageRows: number
  readonly csvWindowRows: number
}

export const REPORT_LIMITS: ReportLimits = {
  pageRowsMax: 200,
  windowRows: 50_000,
  windowsMax: 3,
  csvPageRows: 2_000,
  csvWindowRows: 50_000,
}
