/**
 * Pages that the law requires. The operator writes them as Markdown files named `<page>.<language>.md` in CONTENT_DIR; for a
 * missing file, the draft in `content/` is shown. Files are read on each request, so that changes show at once.
 */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Language } from '../accounts/types.ts'
import { renderMarkdown } from './markdown.ts'
import type { Company } from './options.ts'

export const CONTENT_PAGES = ['contact', 'terms', 'privacy', 'refunds', 'complaints'] as const
export type ContentPage = (typeof CONTENT_PAGES)[number]

export interface Content {
  readonly html: string
  /** True if the file is marked as a draft that nobody has approved. */
  readonly isDraft: boolean
}

const DRAFTS = fileURLToPath(new URL('content', import.meta.url))
/** First line that marks a file as a draft. */
const DRAFT = '<!-- draft -->'
const FILE_BYTES_MAX = 256 * 1024

/** Throws an Error if neither the operator's file nor the draft can be read. */
export async function readContent(
  { page, language }: { readonly page: ContentPage; readonly language: Language },
  { folder, values }: { readonly folder: string | null; readonly values: Readonly<Record<string, string>> },
): Promise<Content> {
  const { body, isDraft } = await readSource({ page, language }, folder)
  const filled = body.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
  return { html: renderMarkdown(filled), isDraft }
}

async function readSource(
  { page, language }: { readonly page: ContentPage; readonly language: Language },
  folder: string | null,
): Promise<{ readonly body: string; readonly isDraft: boolean }> {
  const name = `${page}.${language}.md`
  const source = (folder === null ? null : await readFile(join(folder, name))) ?? (await readFile(join(DRAFTS, name)))
  if (source === null) throw new Error(`there is no ${name}`)
  const isDraft = source.trimStart().startsWith(DRAFT)
  return { body: isDraft ? source.trimStart().slice(DRAFT.length) : source, isDraft }
}

/** Returns the values of the placeholders in files, such as `{company}`. */
export function contentValues(company: Company | null, more: Readonly<Record<string, string>>) {
  return {
    ...more,
    company: company?.name ?? '…',
    address: company?.address ?? '…',
    tax_code: company?.taxCode ?? '…',
    representative: company?.representative ?? '…',
    support_email: company?.email ?? '…',
    support_phone: company?.phone ?? '…',
    support_zalo: company?.zalo ?? '…',
  }
}

/** Lists pages whose current file is still a draft, such as `terms.vi.md`. */
export async function findDrafts(folder: string | null, languages: readonly Language[]): Promise<readonly string[]> {
  const drafts: string[] = []
  for (const page of CONTENT_PAGES) {
    for (const language of languages) {
      const { isDraft } = await readSource({ page, language }, folder)
      if (isDraft) drafts.push(`${page}.${language}.md`)
    }
  }
  return drafts
}

/** Reads at most FILE_BYTES_MAX bytes, to bound memory use. Null if the file does not exist. */
async function readFile(path: string): Promise<string | null> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX), 0, FILE_BYTES_MAX, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
