/** Finds values in a prompt that can serve as tool arguments: quoted strings, names, numbers. */

import type { Hints } from './model.ts'
import { withoutWords } from './words.ts'

const LIMITS = { characters: 4_000, values: 40 } as const

/** Capitalised words that can begin a request but are not part of a name. */
const OPENERS =
  /^(?:What|Whats|Which|When|Where|Who|Why|How|Is|Are|Do|Does|Did|Can|Could|Would|Will|Please|Tell|Give|Show|Find|Get|Call|Use|Run|Compare|Look|Search|Read|Write|The|This|That|And|In|On|At|For|Of|To|I|We|You|It|A|An|My|Thời|Hãy|Cho|Tìm|Xin|Tôi|Bạn|Gọi|Dùng|Plan|Create|Make|Describe|Book|Add|List|Summari[sz]e|Explain|Translate|Extract|Return|Reply|Answer|Generate|Calculate|Set|Send|Open|Check|Tạo|Viết|Chạy|Đọc|Nói|Mô|So|As|If|With|From|By|Then|Now|Thanks|Hi|Hello|Ở)$/

/**
 * Finds the hints in a text. `strings` has quoted strings first, then names (runs of capitalised words), both in the order of
 * the prompt and without duplicates.
 */
export function hintsIn(text: string): Hints {
  const sample = withoutWords(text.slice(0, LIMITS.characters))
  const quoted = [...sample.matchAll(/["“«`]([^"”»`\n]{1,200})["”»`]/g)].map(match => match[1]!)
  const names: string[] = []
  let run: string[] = []
  for (const [word] of sample.matchAll(/\p{L}[\p{L}\p{M}'’-]*|[^\p{L}\s]+/gu)) {
    if (/^\p{Lu}/u.test(word) && !(run.length === 0 && OPENERS.test(word))) run.push(word)
    else {
      if (run.length > 0) names.push(run.join(' '))
      run = []
    }
  }
  if (run.length > 0) names.push(run.join(' '))
  const numbers = [...sample.matchAll(/(?<![\p{L}\d.])-?\d{1,12}(?:\.\d{1,6})?(?![\p{L}\d])/gu)].map(match =>
    Number(match[0]),
  )
  return {
    strings: [...new Set([...quoted, ...names])].slice(0, LIMITS.values),
    numbers: numbers.slice(0, LIMITS.values),
  }
}
