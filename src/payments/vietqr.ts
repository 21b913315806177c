/**
 * The payload of a VietQR code: EMVCo merchant-presented mode with NAPAS's template (specification 1.5.2). Every
 * Vietnamese banking app fills in bank, account, amount and memo from it.
 */

export interface VietQr {
  /** The bank's NAPAS number, six digits. */
  readonly bin: string
  /** At most 19 letters and digits. */
  readonly accountNumber: string
  readonly amountVnd: number
  /** At most 25 letters and digits, which all banks pass on. */
  readonly memo: string
}

const NAPAS = 'A000000727'
const TRANSFER_TO_ACCOUNT = 'QRIBFTTA'
const DONG = '704'
/** Marks a code that carries an amount and so is for a single payment. */
const ONE_TIME = '12'
const CRC_FIELD = '6304'

/** Throws RangeError for input that banking apps could not read. */
export function encodeVietQr({ bin, accountNumber, amountVnd, memo }: VietQr): string {
  if (!/^\d{6}$/.test(bin)) throw new RangeError('the bank code (BIN) is not six digits')
  if (!/^[A-Za-z0-9]{1,19}$/.test(accountNumber))
    throw new RangeError('the account number must be 1 to 19 letters or digits')
  if (!Number.isSafeInteger(amountVnd) || amountVnd < 1 || amountVnd > 9_999_999_999_999) {
    throw new RangeError('the amount is not a whole number of dong of at most 13 digits')
  }
  if (!/^[A-Za-z0-9 ]{1,25}$/.test(memo)) throw new RangeError('the memo must be 1 to 25 letters, digits or spaces')
  const beneficiary = field('00', bin) + field('01', accountNumber)
  const payload =
    field('00', '01') +
    field('01', ONE_TIME) +
    field('38', field('00', NAPAS) + field('01', beneficiary) + field('02', TRANSFER_TO_ACCOUNT)) +
    field('53', DONG) +
    field('54', String(amountVnd)) +
    field('58', 'VN') +
    field('62', field('08', memo)) +
    CRC_FIELD
  return payload + crc16(payload).toString(16).toUpperCase().padStart(4, '0')
}

function field(id: string, value: string): string {
  return id + String(value.length).padStart(2, '0') + value
}

/** CRC-16/CCITT-FALSE; for `123456789` it is 29B1. */
export function crc16(text: string): number {
  let crc = 0xffff
  for (const byte of Buffer.from(text, 'latin1')) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000 ? 0x1021 : 0) ^ (crc << 1)) & 0xffff
  }
  return crc
}
