/** Copy buttons, themes, menus, and forms that submit once. Everything else is plain HTML. */
;(() => {
  const root = document.documentElement

  async function copy(button) {
    const from = button.hasAttribute('data-copy-from')
    const value = from ? button.closest('.code').querySelector('code').innerText : button.dataset.copy
    try {
      await navigator.clipboard.writeText(value)
    } catch {
      const area = document.createElement('textarea')
      area.value = value
      area.className = 'off-screen'
      document.body.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    // The label is already taken away if the button was pressed a moment ago.
    if (button.classList.contains('done')) return
    const label = button.getAttribute('aria-label')
    button.classList.add('done')
    button.setAttribute('aria-label', document.body.dataset.copied)
    setTimeout(() => {
      button.classList.remove('done')
      if (label === null) button.removeAttribute('aria-label')
      else button.setAttribute('aria-label', label)
    }, 1600)
  }

  function chooseTheme(theme) {
    root.dataset.theme = theme
    const secure = location.protocol === 'https:' ? '; secure' : ''
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie store API is not in every browser
    document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=lax${secure}`
    document.dispatchEvent(new Event('themechange'))
  }

  document.addEventListener('click', event => {
    const target = event.target instanceof Element ? event.target : null
    const button = target?.closest('[data-copy], [data-copy-from]')
    if (button) return void copy(button)
    const theme = target?.closest('[data-theme-choice]')
    if (theme) {
      event.preventDefault()
      return chooseTheme(theme.dataset.themeChoice)
    }
    for (const menu of document.querySelectorAll('[data-menu][open]')) {
      if (!menu.contains(target)) menu.removeAttribute('open')
    }
  })

  document.addEventListener('keydown', event => {
    if (event.key !== 'Escape') return
    for (const menu of document.querySelectorAll('[data-menu][open]')) {
      menu.removeAttribute('open')
      menu.querySelector('summary')?.focus()
    }
  })

  // A form submits once: the second click of a double click finds its button disabled.
  document.addEventListener('submit', event => {
    const form = event.target
    if (event.defaultPrevented || form.method !== 'post') return
    setTimeout(() => {
      for (const button of form.querySelectorAll('button:not([type=button])')) button.disabled = true
    })
  })
  addEventListener('pageshow', () => {
    for (const button of document.querySelectorAll('form button:disabled:not([data-disabled])')) button.disabled = false
  })

  // While htmx loads, the part that will change is marked busy; if loading fails, a message appears beside the old content.
  let failed = null
  /** The newest request for each part: it has replaced older ones, which end after it has begun. */
  const newest = new WeakMap()

  function target(event) {
    const { target } = event.detail.ctx
    return target instanceof Element ? target : document.querySelector(target)
  }

  document.addEventListener('htmx:before:request', event => {
    const part = target(event)
    if (part === null) return
    newest.set(part, event.detail.ctx)
    part.setAttribute('aria-busy', 'true')
  })
  document.addEventListener('htmx:finally:request', event => {
    const part = target(event)
    if (part !== null && newest.get(part) === event.detail.ctx) part.removeAttribute('aria-busy')
  })
  document.addEventListener('htmx:after:request', () => {
    document.getElementById('fault').hidden = true
  })
  for (const name of ['htmx:response:error', 'htmx:error']) {
    document.addEventListener(name, event => {
      if (event.detail.ctx === undefined) return
      failed = event.detail.ctx.sourceElement
      document.getElementById('fault').hidden = false
    })
  }
  document.getElementById('fault').addEventListener('click', event => {
    if (!event.target.closest('button')) return
    if (failed instanceof HTMLFormElement && failed.isConnected) failed.requestSubmit()
    else location.reload()
  })

  // Focuses the first field to correct or, if there is none, the one to begin with.
  const [field] = [
    ...document.querySelectorAll('[data-focus][aria-invalid]'),
    ...document.querySelectorAll('[data-focus]'),
  ]
  field?.focus()
})()
