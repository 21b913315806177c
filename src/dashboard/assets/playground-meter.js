/** Shows a call's time to first byte, tokens and dong: estimated while it runs, and as billed in the end. */

/** The numbers change at most this often, in ms. */
const SHOW_MS = 100
/** Pauses before each attempt to read the bill, in ms: a stopped call is settled a moment later. */
const LOOKS_MS = [0, 300, 1_000, 3_000]
/** Rough estimates until the provider reports its count: bytes per token, and tokens per picture. */
const TOKEN_BYTES = 4
const PICTURE_TOKENS = 1_000

const encoder = new TextEncoder()
const bytesOf = text => encoder.encode(text).length

/** `1.234,5 ₫` from µVND, as on all pages; large amounts have no fractions. */
export function dong(micro) {
  const vnd = micro / 1_000_000
  const [whole, fraction = ''] = (vnd < 1000 ? vnd.toFixed(2) : String(Math.trunc(vnd))).split('.')
  const cut = fraction.replace(/0+$/, '')
  return `${figure(whole)}${cut === '' ? '' : `,${cut}`}\u00a0₫`
}

/** Writes a number as `1.234`. */
function figure(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '.')
}

/**
 * @param {HTMLElement} place where the figures are shown
 * @param {{ price: number, per: string }} model
 * @param {{ words: string, pictures: number }} sent
 */
export function createMeter(place, { price, per }, sent, texts) {
  const startedMs = performance.now()
  const input = { rough: Math.ceil(bytesOf(sent.words) / TOKEN_BYTES) + sent.pictures * PICTURE_TOKENS, told: null }
  const output = { bytes: 0, told: null }
  let firstMs = null
  let shownMs = 0

  const show = (tokens, ...rest) => {
    const first = firstMs === null ? null : texts.firstByte.replace('{seconds}', secondsOf(firstMs))
    const counted =
      per === 'mtok' && tokens !== null
        ? texts.tokens.replace('{input}', tokens.input).replace('{output}', tokens.output)
        : null
    place.textContent = [first, counted, ...rest].filter(part => part !== null).join(' · ')
  }
  const showLive = (...rest) => {
    const read = input.told ?? input.rough
    const written = output.told ?? Math.ceil(output.bytes / TOKEN_BYTES)
    const cost = per === 'mtok' ? `≈ ${dong(price * (read + written))}` : null
    show({ input: figure(read), output: figure(written) }, cost, ...rest)
  }

  return {
    /** To be called when something has arrived, with what it says if the reply is streamed. */
    add({ text = '', reasoning = '', input: read, output: written } = {}) {
      firstMs ??= performance.now() - startedMs
      output.bytes += bytesOf(reasoning + text)
      input.told = read ?? input.told
      output.told = written ?? output.told
      if (performance.now() - shownMs < SHOW_MS) return
      shownMs = performance.now()
      showLive()
    },
    /** To be called when nothing more will arrive; `requestId` is null if the call has none. */
    async settle(requestId, onSpent) {
      if (firstMs === null) return
      showLive(texts.settling)
      const call = await billOf(requestId, onSpent)
      if (call === null) showLive(texts.unsettled)
      else show(call, texts.total.replace('{name}', call.cost))
    },
  }
}

function secondsOf(ms) {
  return (ms / 1000).toFixed(2).replace('.', ',')
}

/** The call as it was billed; null if that cannot be read. */
async function billOf(requestId, onSpent) {
  for (const pauseMs of requestId === null ? [] : LOOKS_MS) {
    await new Promise(resolve => setTimeout(resolve, pauseMs))
    try {
      const reply = await fetch(`/playground/bill?call=${encodeURIComponent(requestId)}`)
      const { call, spent } = await reply.json()
      onSpent(spent)
      if (call !== null) return call
    } catch {
      // The next attempt may succeed.
    }
  }
  return null
}
