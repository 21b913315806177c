/** Shows the progress of a CSV export. Very long exports are left to the browser's own download. */
;(() => {
  const ROWS_MAX = 500_000
  const NEW_LINE = 10

  async function save(link) {
    const progress = document.getElementById(link.dataset.progress)
    const status = progress.parentElement
    progress.max = Number(link.dataset.rows) || 1
    progress.value = 0
    status.hidden = false
    const response = await fetch(link.href, { credentials: 'same-origin' })
    // Whoever is signed out is led to the sign-in page, which is no export, and comes back to this page from there.
    if (response.redirected) return location.reload()
    if (!response.ok) throw new Error(String(response.status))
    const chunks = []
    let lines = 0
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      for (const byte of value) if (byte === NEW_LINE) lines++
      progress.value = lines - 1
    }
    const url = URL.createObjectURL(new Blob(chunks, { type: 'text/csv' }))
    const anchor = document.createElement('a')
    anchor.href = url
    anchor.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition'))?.[1] ?? 'usage.csv'
    anchor.click()
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
    status.hidden = true
  }

  document.addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('[data-export]') : null
    if (link === null || Number(link.dataset.rows) > ROWS_MAX) return
    event.preventDefault()
    if (link.getAttribute('aria-disabled') === 'true') return
    link.setAttribute('aria-disabled', 'true')
    save(link)
      .catch(() => {
        document.getElementById(link.dataset.progress).parentElement.hidden = true
        alert(link.dataset.failed)
      })
      .finally(() => link.removeAttribute('aria-disabled'))
  })
})()
