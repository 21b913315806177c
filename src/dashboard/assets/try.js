/** Sends the reference page's example calls from the browser, with the key typed there. */
;(() => {
  const REPLY_CHARACTERS_MAX = 20_000

  function shown(text, type) {
    if (type.includes('application/json')) {
      try {
        return JSON.stringify(JSON.parse(text), null, 2)
      } catch {
        return text
      }
    }
    return text
  }

  async function send(form) {
    const { method, path, sending, failed } = form.dataset
    const status = form.querySelector('[data-try-status]')
    const reply = form.querySelector('[data-try-reply]')
    const key = document.getElementById('try-key').value.trim()
    form.querySelector('.code').hidden = false
    status.textContent = sending
    reply.textContent = ''
    const body = form.elements.body?.value
    try {
      const started = performance.now()
      const response = await fetch(path, {
        method,
        credentials: 'omit',
        headers: {
          accept: 'application/json',
          ...(key && { 'x-api-key': key }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body }),
      })
      const type = response.headers.get('content-type') ?? ''
      const isText = /json|text/.test(type)
      const text = isText ? await response.text() : `${(await response.blob()).size} bytes, ${type}`
      status.textContent = `${response.status} · ${Math.round(performance.now() - started)} ms`
      const headers = [...response.headers].filter(([name]) => name.startsWith('x-')).map(pair => pair.join(': '))
      reply.textContent = `${headers.join('\n')}\n\n${shown(text, type)}`.trim().slice(0, REPLY_CHARACTERS_MAX)
    } catch {
      status.textContent = failed
    }
  }

  document.addEventListener('submit', event => {
    if (!event.target.matches('[data-try]')) return
    event.preventDefault()
    send(event.target)
  })
})()
