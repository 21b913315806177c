/** The playground: what is chosen and typed becomes a request, and one or two models answer it side by side. */

import { codeOf } from './playground-code.js'
import { createColumn } from './playground-column.js'
import { createPictures } from './playground-pictures.js'
import { FOREIGN } from './playground-request.js'

const form = document.getElementById('playground')
const facts = JSON.parse(form.dataset.facts)
const { models, texts, url } = facts
const { first, second, compare, system, format, prompt, language, files } = form.elements
const find = name => form.querySelector(`[data-${name}]`)
const [columnsPlace, sendButton, stopButton, code] = ['columns', 'send', 'stop', 'code'].map(find)
const parameterFields = [...form.querySelectorAll('[data-parameter]')]

const columns = [addColumn()]
const pictures = createPictures(find('pictures'), texts, words => showFault(files, words), showFields)

function addColumn() {
  const root = document.getElementById('playground-column').content.firstElementChild.cloneNode(true)
  columnsPlace.append(root)
  return createColumn(root, facts, spent => {
    find('spent').textContent = spent
  })
}

/** Shows a fault at its field; '' removes it. */
function showFault(field, words) {
  const place = field.closest('.field').querySelector('.fault')
  place.textContent = words
  place.hidden = words === ''
  field.toggleAttribute('aria-invalid', words !== '')
  if (words !== '') field.setAttribute('aria-invalid', 'true')
}

/** Shows only the fields that the chosen models and the format support. */
function showFields() {
  const chosen = columns.map(({ model }) => models[model])
  const { kind } = chosen[0]
  const foreign = kind === 'chat' ? (FOREIGN[format.value] ?? []) : []
  for (const field of parameterFields) {
    const { parameter } = field.dataset
    field.hidden = foreign.includes(parameter) || !chosen.some(({ parameters }) => parameters.includes(parameter))
  }
  for (const field of form.querySelectorAll('[data-only]')) field.hidden = field.dataset.only !== kind
  offerEfforts(new Set(chosen.flatMap(({ efforts }) => efforts)))
  // A model that cannot see needs the field, too, to say so of pictures that were added for another.
  find('picture-field').hidden = pictures.urls.length === 0 && !chosen.some(({ sees }) => sees)
  showCode()
}

/** Keeps the chosen effort if it is among the new ones. */
function offerEfforts(levels) {
  const field = form.elements.reasoning_effort
  const { value } = field
  field.replaceChildren(field.options[0], ...[...levels].map(level => new Option(level, level)))
  field.value = levels.has(value) ? value : ''
}

/** Offers as the second model only those with the same kind of output as the first. */
function showSecond() {
  const { kind } = models[first.value]
  for (const option of second.options) option.hidden = option.disabled = models[option.value].kind !== kind
  if (second.selectedOptions[0]?.disabled !== false) {
    second.value = [...second.options].find(option => !option.disabled && option.value !== first.value)?.value ?? ''
  }
}

function choose() {
  showSecond()
  columns[0].model = first.value
  if (compare.checked && second.value !== '') {
    columns[1] ??= addColumn()
    columns[1].model = second.value
  } else if (columns.length > 1) {
    const dropped = columns.pop()
    dropped.clear()
    dropped.root.remove()
  }
  find('second').hidden = !compare.checked
  for (const field of [first, second]) {
    field.nextElementSibling.textContent = field.selectedOptions[0]?.dataset.price ?? ''
  }
  columnsPlace.classList.toggle('two', columns.length > 1)
  showFields()
}

/** A number as people write it, `0,7` or `0.7`, and in a field for whole numbers `4096` or `4.096`; NaN for anything else. */
function numberIn({ inputMode }, text) {
  if (inputMode === 'numeric')
    return /^(\d+|\d{1,3}([., ]\d{3})+)$/.test(text) ? Number(text.replace(/\D/g, '')) : Number.NaN
  return /^\d+([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : Number.NaN
}

/** The values of the visible fields; null if one of them is not a number. */
function readParameters(refuse) {
  const parameters = {}
  let isGood = true
  for (const place of parameterFields) {
    const field = place.querySelector('input, select, textarea')
    const text = field.value.trim()
    if (place.hidden || text === '') continue
    if (field.name === 'stop') parameters.stop = text.split('\n').filter(line => line !== '')
    else if (field.inputMode === '') parameters[field.name] = text
    else if (Number.isNaN(numberIn(field, text))) {
      isGood = false
      refuse(field, texts.notNumber)
    } else parameters[field.name] = numberIn(field, text)
  }
  return isGood ? parameters : null
}

function settingsFor(parameters) {
  const isChat = models[first.value].kind === 'chat'
  return { system: isChat ? system.value.trim() : '', format: format.value, parameters }
}

async function submit() {
  for (const field of form.elements) if (field.closest('.field')?.querySelector('.fault')) showFault(field, '')
  const turn = { role: 'user', text: prompt.value.trim(), pictures: pictures.urls }
  const blind = columns.find(({ model }) => !models[model].sees)
  const parameters = readParameters(showFault)
  if (turn.text === '') showFault(prompt, texts.noPrompt)
  if (turn.pictures.length > 0 && blind) showFault(files, texts.blind.replace('{name}', blind.model))
  else if (turn.pictures.length > 1 && models[first.value].kind === 'image') {
    showFault(files, texts.onePicture.replace('{name}', first.value))
  }
  const faulty = form.querySelector('[aria-invalid]')
  if (faulty !== null) {
    faulty.closest('details')?.setAttribute('open', '')
    return faulty.focus()
  }
  prompt.value = ''
  pictures.clear()
  setRunning(true)
  const answered = await Promise.all(columns.map(column => column.send(turn, settingsFor(parameters))))
  // Somebody who is typing elsewhere goes on typing there.
  const isWaiting = document.activeElement === stopButton
  setRunning(false)
  // If no model answered, put the message back so that nothing is lost.
  if (!answered.includes(true) && prompt.value === '') {
    prompt.value = turn.text
    pictures.restore(turn.pictures)
  }
  if (isWaiting) prompt.focus()
}

function setRunning(isRunning) {
  sendButton.hidden = isRunning
  stopButton.hidden = !isRunning
  for (const field of [first, second, compare]) field.disabled = isRunning
  if (isRunning) stopButton.focus()
  showCode()
}

/** Shows exactly the request that would be sent now, as code. */
function showCode() {
  if (!code.closest('details').open) return
  const turn = { role: 'user', text: prompt.value.trim(), pictures: pictures.urls }
  const request = columns[0].request(turn, settingsFor(readParameters(() => {}) ?? {}))
  find('code-name').textContent = language.value
  code.textContent = codeOf(language.value, request, url)
}

form.addEventListener('submit', event => {
  event.preventDefault()
  if (!sendButton.hidden) submit()
})
form.addEventListener('change', event => {
  if ([first, second, compare].includes(event.target)) choose()
  else if (event.target === format) showFields()
  else if (event.target === files) {
    pictures.add(files.files)
    files.value = ''
  } else showCode()
})
form.addEventListener('input', showCode)
code.closest('details').addEventListener('toggle', showCode)
stopButton.addEventListener('click', () => {
  for (const column of columns) column.stop()
})
find('clear').addEventListener('click', () => {
  for (const column of columns) column.clear()
  showCode()
  prompt.focus()
})
prompt.addEventListener('keydown', event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) form.requestSubmit()
})
prompt.addEventListener('paste', event => {
  if (event.clipboardData.files.length > 0 && !find('picture-field').hidden) pictures.add(event.clipboardData.files)
})

second.append(...[...first.children].map(group => group.cloneNode(true)))
second.selectedIndex = -1
document.querySelector('.playground-unscripted').remove()
form.hidden = false
choose()
