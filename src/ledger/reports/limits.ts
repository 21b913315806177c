export interface ReportLimits {
  readonly pageRowsMax: number
  /**
   * Maximum number of rows that one statement may scan, so that a selective filter does not scan an account's whole history.
   */
  readonly windowRows: number
  readonly windowsMax: number
  /** Maximum number of rows per chunk of an export. */
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
