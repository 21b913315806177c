/** Every limit on reports in one place. */

export interface ReportLimits {
  /** Rows of one page. */
  readonly pageRowsMax: number
  /** Rows looked at in one statement, and statements for one page: a filter that matches little must not read all. */
  readonly windowRows: number
  readonly windowsMax: number
  /** Rows of one chunk of an export, and rows looked at for it. */
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
