/** Reads CSV (RFC 4180) from chunks of text, record by record, with a limit on the length of one record. */

const RECORD_CHARACTERS_MAX = 1_000_000

/** Yields records as lists of fields, skipping a byte order mark and empty lines. Throws if a record is too long. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<string[]> {
  let record: string[] = []
  let field = ''
  let length = 0
  let isQuoted = false
  let wasQuote = false
  let isFirst = true
  for await (const chunk of chunks) {
    for (const character of isFirst ? chunk.replace(/^\uFEFF/, '') : chunk) {
      isFirst = false
      if (++length > RECORD_CHARACTERS_MAX) throw new Error('a record of the CSV file never ends; is a quote missing?')
      if (isQuoted && !wasQuote) {
        if (character === '"') wasQuote = true
        else field += character
        continue
      }
      if (isQuoted && character === '"') {
        field += '"'
        wasQuote = false
        continue
      }
      if (wasQuote) isQuoted = wasQuote = false
      if (character === '"' && field === '') isQuoted = true
      else if (character === ',') {
        record.push(field)
        field = ''
      } else if (character === '\n') {
        record.push(field)
        if (record.length > 1 || field !== '') yield record
        record = []
        field = ''
        length = 0
      } else if (character !== '\r') field += character
    }
  }
  record.push(field)
  if (record.length > 1 || field !== '') yield record
}
