/** Parses amounts as people type them. */

const PLAIN = /^[1-9]\d{0,11}$/
/** Groups of three digits, all separated by the same character: 50.000, 50,000 or 50 000. */
const GROUPED = /^[1-9]\d{0,2}(?:([., \u00A0\u202F])\d{3}(?:\1\d{3}){0,2})$/
const CURRENCY = /\s*(?:₫|đ|vnd|vnđ|đồng|dong)$/iu

/** Parses whole dong. Null for anything invalid or ambiguous, such as letters, 50.00, 50.0000 or a minus sign. */
export function readAmountVnd(text: string): number | null {
  const bare = text.normalize('NFC').trim().replace(CURRENCY, '')
  if (!PLAIN.test(bare) && !GROUPED.test(bare)) return null
  return Number(bare.replace(/\D/g, ''))
}
