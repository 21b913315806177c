/**
 * SePay's transaction list (developer.sepay.vn/en/sepay-api/v2/giao-dich/danh-sach and v2/gioi-thieu, read 2026-11-21): at most
 * 100 per page and 3 requests per second. Its ids differ from the ids in webhooks; the bank reference is the same.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts'
import { vietnamTime } from '../../lib/vietnam-time.ts'
import type { PaymentLimits } from '../limits.ts'
import type { PullSource } from '../pull.ts'
import { type BankTransaction, UnreadableListError } from '../types.ts'
import {
  readAccount,
  readAmount,
  readId,
  readMany,
  readObject,
  readReference,
  readText,
  readTime,
  readVirtualAccount,
} from './read.ts'

const PAGE_ROWS = 100
/** Pause after each request, to stay below three per second. */
const PAUSE_MS = 400

export interface SepayApi {
  readonly token: string
  /** For example, `https://userapi.sepay.vn/v2`. */
  readonly baseUrl: string
}

export function createSepaySource({ token, baseUrl }: SepayApi, limits: PaymentLimits): PullSource {
  async function readPage(page: number, since: Date): Promise<JsonObject> {
    const query = new URLSearchParams({
      transaction_date_from: vietnamTime(since),
      transaction_date_sort: 'asc',
      transfer_type: 'in',
      per_page: String(PAGE_ROWS),
      page: String(page),
    })
    const { statusCode, body } = await request(`${baseUrl}/transactions?${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      signal: AbortSignal.timeout(limits.pullTimeoutMs),
      headersTimeout: limits.pullTimeoutMs,
      bodyTimeout: limits.pullTimeoutMs,
    })
    const text = await readLimited(body, limits.pullBytesMax)
    if (statusCode !== 200) throw new Error(`SePay answered ${statusCode}`)
    const value = parseJson(text)
    return isObject(value) ? value : readObject(undefined, 'the answer')
  }

  return {
    name: 'sepay-api',
    async *list(since) {
      let fault: UnreadableListError | null = null
      for (let page = 1; page <= limits.pullPagesMax; page++) {
        if (page > 1) await sleep(PAUSE_MS)
        const { data, meta } = await readPage(page, since)
        const read = readRows(data, limits)
        fault ??= read.fault
        yield read.transactions
        if (hasMore(meta)) continue
        if (fault !== null) throw fault
        return
      }
      throw new Error(`SePay has more than ${limits.pullPagesMax} pages; the rest was not read`)
    },
  }
}

/** Reads a page. Rows that cannot be parsed are left out, and the first of them is the `fault`. */
function readRows(
  data: JsonValue | undefined,
  limits: PaymentLimits,
): { transactions: readonly BankTransaction[]; fault: UnreadableListError | null } {
  try {
    return { transactions: readMany(data, limits, readTransaction), fault: null }
  } catch (error) {
    if (!(error instanceof UnreadableListError)) throw error
    return { transactions: error.readable, fault: error }
  }
}

function readTransaction(row: JsonObject): BankTransaction {
  return {
    providerReference: readId(row.id, 'id'),
    bankReference: readReference(row.reference_number),
    accountNumber: readAccount(row.account_number, 'account_number'),
    virtualAccountNumber: readVirtualAccount(row.va),
    amountVnd: readAmount(row.amount_in, 'amount_in').amountVnd,
    direction: 'in',
    memo: readText(row.transaction_content),
    bookedAt: readTime(row.transaction_date),
  }
}

function hasMore(meta: JsonValue | undefined): boolean {
  const pagination = isObject(meta) ? meta.pagination : undefined
  return isObject(pagination) && pagination.has_more === true
}

async function readLimited(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`the reply is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
