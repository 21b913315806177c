/** One model of the playground: its conversation, which exists only in this page, and the call in progress. */

import { Fault, faultNotice, faultOf, faultWords } from './playground-fault.js'
import { markdownInto } from './playground-markdown.js'
import { createMeter, dong } from './playground-meter.js'
import { eventsOf, picturesOf, READERS } from './playground-reply.js'
import { PATHS, requestOf } from './playground-request.js'

/**
 * @param {HTMLElement} root made from the page's template
 * @param {{ models: object, texts: Record<string, string> }} facts
 * @param {(spent: string) => void} onSpent called with what the account's playground was charged today
 */
export function createColumn(root, { models, texts }, onSpent) {
  const [title, log, status] = ['title', 'log', 'status'].map(name => root.querySelector(`[data-${name}]`))
  const sounds = []
  let turns = []
  let model = ''
  let running = null

  function request(turn, { system, format, parameters }) {
    const { kind, parameters: supported } = models[model]
    const own = Object.fromEntries(Object.entries(parameters).filter(([name]) => supported.includes(name)))
    return requestOf({ kind, format, model, system, turns: [...turns, turn], parameters: own })
  }

  function article(className, label) {
    const element = log.appendChild(document.createElement('article'))
    element.className = className
    element.setAttribute('aria-label', label)
    return element
  }

  function showTurn({ text, pictures }) {
    const question = article('question', texts.you)
    for (const url of pictures) question.append(picture(url, texts.picture))
    question.appendChild(document.createElement('p')).textContent = text
  }

  function meterFor(answer, turn, { system }) {
    const place = answer.appendChild(document.createElement('p'))
    place.className = 'fine'
    const sentTurns = models[model].kind === 'chat' ? [...turns, turn] : [turn]
    const sent = {
      words: [system, ...sentTurns.map(({ text }) => text)].join('\n'),
      pictures: sentTurns.flatMap(({ pictures }) => pictures).length,
    }
    return createMeter(place, models[model], sent, texts)
  }

  /** True if an answer or a part of one has come, or the person has started over meanwhile. */
  async function send(turn, settings) {
    const { endpoint, body } = request(turn, settings)
    const conversation = turns
    running = new AbortController()
    const { signal } = running
    showTurn(turn)
    const answer = article('answer', model)
    const meter = meterFor(answer, turn, settings)
    const reply = { requestId: null, text: '', isCut: false }
    let hasAnswer = false
    answer.setAttribute('aria-busy', 'true')
    status.textContent = texts.writing
    try {
      const response = await fetch(`/playground${PATHS[endpoint]}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      })
      reply.requestId = response.headers.get('x-request-id')
      if (!response.ok) throw await faultOf(response, texts)
      if (endpoint === 'audio_speech') await showSound(response, answer, meter)
      else if (endpoint.startsWith('images')) await showPictures(response, turn, { answer, meter })
      else await showStream(response, READERS[endpoint], { answer, meter, reply })
      status.textContent = reply.isCut ? texts.cut : texts.done
      hasAnswer = !(endpoint in READERS)
    } catch (fault) {
      status.textContent = !signal.aborted ? '' : endpoint in READERS ? texts.stopped : stoppedWords(body)
      if (!signal.aborted) answer.append(faultNotice(fault instanceof Fault ? fault.message : texts.errorNetwork))
    }
    if (reply.text !== '') conversation.push(turn, { role: 'assistant', text: reply.text, pictures: [] })
    answer.removeAttribute('aria-busy')
    running = null
    meter.settle(reply.requestId, onSpent)
    return hasAnswer || reply.text !== '' || conversation !== turns
  }

  /** A call that is not streamed still completes and is billed. */
  function stoppedWords({ n = 1 }) {
    const { price, per } = models[model]
    if (per === 'mtok') return texts.stoppedWhole
    return `${texts.stoppedWhole} ${texts.atMost.replace('{name}', dong(per === 'image' ? price * n : price))}`
  }

  async function showSound(response, answer, meter) {
    meter.add()
    const url = URL.createObjectURL(await response.blob())
    sounds.push(url)
    const player = document.createElement('audio')
    player.controls = true
    player.src = url
    player.setAttribute('aria-label', texts.spoken.replace('{name}', model))
    answer.prepend(player)
  }

  async function showPictures(response, { text }, { answer, meter }) {
    meter.add()
    const pictures = picturesOf(await response.json())
    if (pictures.length === 0) throw new Fault(texts.noPicture)
    for (const [index, url] of pictures.entries()) {
      const link = document.createElement('a')
      link.href = url
      link.download = `${model.replaceAll('/', '-')}-${index + 1}`
      link.append(picture(url, texts.drawn.replace('{name}', text)))
      answer.lastElementChild.before(link)
    }
  }

  async function showStream(response, read, { answer, meter, reply }) {
    const body = document.createElement('div')
    body.className = 'markdown'
    answer.prepend(body)
    const markdown = markdownInto(body)
    let reasoning = null
    let hasEnded = false
    try {
      for await (const event of eventsOf(response.body)) {
        const step = read(event)
        if (step.error !== undefined) throw new Fault(faultWords(step, texts))
        if (step.reasoning) {
          reasoning ??= foldBefore(body, texts.reasoning)
          reasoning.append(step.reasoning)
        }
        if (step.text) {
          reply.text += step.text
          markdown.write(step.text)
        }
        reply.isCut ||= step.cut === true
        hasEnded ||= step.ended === true
        meter.add(step)
      }
    } finally {
      markdown.end()
    }
    if (!hasEnded) throw new Error('the stream ended early')
  }

  function clear() {
    running?.abort()
    turns = []
    log.replaceChildren()
    status.textContent = ''
    for (const url of sounds.splice(0)) URL.revokeObjectURL(url)
  }

  return {
    root,
    request,
    send,
    clear,
    stop: () => running?.abort(),
    get model() {
      return model
    },
    set model(id) {
      model = id
      title.textContent = id
    },
  }
}

function picture(url, description) {
  const image = document.createElement('img')
  image.src = url
  image.alt = description
  return image
}

function foldBefore(element, title) {
  const fold = document.createElement('details')
  fold.className = 'reasoning'
  fold.appendChild(document.createElement('summary')).textContent = title
  element.before(fold)
  return fold.appendChild(document.createElement('p'))
}
