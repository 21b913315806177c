/** Order codes: `ST`, nine random characters and a check character, in an alphabet that survives handwriting and banks. */

import { randomInt } from 'node:crypto'

export const ORDER_PREFIX = 'ST'
/** Crockford's base 32: without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const RANDOM_CHARACTERS = 9
/**
 * A prime above all position weights (1 to 9), so that the check character reveals any single wrong character, except a 0 for a
 * Z or a Z for a 0.
 */
const CHECK_MODULUS = 31
const CODE = /^ST[0-9A-HJKMNP-TV-Z]{10}$/

/** 45 random bits: codes cannot be guessed, and collisions are negligible. */
export function makeOrderCode(random: (max: number) => number = randomInt): string {
  const body = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[random(ALPHABET.length)]).join('')
  return `${ORDER_PREFIX}${body}${checkCharacter(body)}`
}

/** True for a well-formed upper-case code with a correct check character, whether or not the order exists. */
export function isOrderCode(text: string): boolean {
  return CODE.test(text) && text.at(-1) === checkCharacter(text.slice(ORDER_PREFIX.length, -1))
}

function checkCharacter(body: string): string {
  const sum = [...body].reduce((total, character, index) => total + (index + 1) * ALPHABET.indexOf(character), 0)
  return ALPHABET[sum % CHECK_MODULUS] as string
}
