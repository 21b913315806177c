/** The page of an order: says when it cannot reach the server, shares the QR code, and remembers the banking app. */
;(() => {
  const offline = document.getElementById('order-offline')
  const isOrder = event => event.target instanceof Element && event.target.id === 'order-state'
  for (const name of ['htmx:error', 'htmx:response:error']) {
    document.addEventListener(name, event => {
      if (!isOrder(event)) return
      offline.hidden = false
      // This page has a message of its own, which also says what it means for the money.
      document.getElementById('fault').hidden = true
    })
  }
  document.addEventListener('htmx:after:request', event => {
    if (isOrder(event) && event.detail.ctx.response.status < 400) offline.hidden = true
  })

  // Phones save a shared picture to the photo library, where banking apps find it; a download lands elsewhere.
  const save = document.querySelector('[data-share]')
  const isTouch = matchMedia('(pointer: coarse)').matches
  save?.addEventListener('click', async event => {
    if (!isTouch || !navigator.canShare?.({ files: [new File([], 'qr.png', { type: 'image/png' })] })) return
    event.preventDefault()
    try {
      const picture = await (await fetch(save.href)).blob()
      await navigator.share({ files: [new File([picture], save.download, { type: 'image/png' })] })
    } catch (error) {
      // An AbortError means that the person closed the share sheet and wants nothing more.
      if (error.name !== 'AbortError') location.href = save.href
    }
  })

  const apps = document.querySelector('[data-bank-apps]')
  if (!apps) return
  let chosen = null
  try {
    chosen = localStorage.getItem('bank-app')
  } catch {}
  const first = chosen === null ? null : apps.querySelector(`[data-app="${CSS.escape(chosen)}"]`)
  if (first) apps.prepend(first.parentElement)
  apps.addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('[data-app]') : null
    if (!link) return
    try {
      localStorage.setItem('bank-app', link.dataset.app)
    } catch {}
    // Copies the memo for banking apps that open with an empty form.
    navigator.clipboard?.writeText(apps.dataset.memo).catch(() => {})
  })
})()
