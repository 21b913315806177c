/** Reads Vietnamese tax codes (mã số thuế): ten digits, plus three for a branch; individuals may use their twelve-digit ID. */

const CODE = /^(\d{10})(?:-?(\d{3}))?$/
const PERSON = /^\d{12}$/
const WEIGHTS = [31, 29, 23, 19, 17, 13, 7, 5, 3]

/**
 * `ok`: a valid code, in the usual notation. `wrong_check`: wrong check digit, most likely a typo; the caller decides.
 * `malformed`: not a tax code.
 */
export type TaxCode =
  | { readonly outcome: 'ok' | 'wrong_check'; readonly code: string }
  | { readonly outcome: 'malformed' }

/** Reads a tax code, ignoring spaces and dots. */
export function readTaxCode(text: string): TaxCode {
  const plain = text.replace(/[\s.]/g, '')
  if (PERSON.test(plain)) return { outcome: 'ok', code: plain }
  const [, digits, branch] = CODE.exec(plain) ?? []
  if (digits === undefined || branch === '000') return { outcome: 'malformed' }
  const code = branch === undefined ? digits : `${digits}-${branch}`
  const sum = WEIGHTS.reduce((total, weight, index) => total + weight * Number(digits[index]), 0)
  const check = 10 - (sum % 11)
  const isRight = check === Number(digits[9]) && digits.slice(2, 9) !== '0000000'
  return { outcome: isRight ? 'ok' : 'wrong_check', code }
}
