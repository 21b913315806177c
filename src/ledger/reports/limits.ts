/** All limits on reports. */

export interface ReportLimits {
  /** Rows of one page. */
  readonly pageRowsMax: number
  /** Rows read by one statement, and statements per page: a filter that matches little must not read everything. */
  readonly windowRows: number
  readonly windowsMax: number
  /** Rows per chunk of an export, and rows read for one. */
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
