/** Passkeys: asks the server what to sign, lets the device sign it, and submits the form with the answer. */

const bytes = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), char => char.charCodeAt(0))
const text = buffer =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
const listed = credentials => (credentials ?? []).map(credential => ({ ...credential, id: bytes(credential.id) }))

async function optionsFor(purpose) {
  const response = await fetch('/account/second-factor/passkeys/options', {
    method: 'POST',
    body: new URLSearchParams({ purpose }),
    redirect: 'error',
  })
  if (!response.ok) throw new Error(`options: ${response.status}`)
  const options = await response.json()
  return { ...options, challenge: bytes(options.challenge) }
}

async function create() {
  const options = await optionsFor('register')
  const publicKey = {
    ...options,
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: listed(options.excludeCredentials),
  }
  const credential = await navigator.credentials.create({ publicKey })
  const { response } = credential
  return answerOf(credential, {
    attestationObject: text(response.attestationObject),
    transports: response.getTransports?.() ?? [],
  })
}

async function sign() {
  const options = await optionsFor('give')
  const publicKey = { ...options, allowCredentials: listed(options.allowCredentials) }
  const credential = await navigator.credentials.get({ publicKey })
  const { response } = credential
  return answerOf(credential, {
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
    ...(response.userHandle && { userHandle: text(response.userHandle) }),
  })
}

const answerOf = ({ id, rawId, type, response }, members) =>
  JSON.stringify({
    id,
    rawId: text(rawId),
    type,
    clientExtensionResults: {},
    response: { clientDataJSON: text(response.clientDataJSON), ...members },
  })

/** For each reason why a device gave no answer, the attribute that holds the words. */
const REASONS = { NotAllowedError: 'cancelled', AbortError: 'cancelled', InvalidStateError: 'known' }

async function run(button, make) {
  const form = button.form
  const part = button.closest('[data-passkey]')
  const field = part.querySelector('input[type=hidden]')
  const fault = part.querySelector('.fault')
  fault.textContent = ''
  button.disabled = true
  try {
    field.value = await make()
  } catch (error) {
    const reason = REASONS[error.name] ?? 'failed'
    fault.textContent = part.dataset[reason] ?? part.dataset.failed
    return
  } finally {
    button.disabled = false
  }
  const code = part.dataset.passkey === 'give' ? form.querySelector('[autocomplete="one-time-code"]') : null
  if (code) code.required = false
  form.requestSubmit()
}

for (const part of document.querySelectorAll('[data-passkey]')) {
  const button = part.querySelector('button')
  const fault = part.querySelector('.fault')
  if (!window.PublicKeyCredential) {
    fault.textContent = part.dataset.unsupported
    button.disabled = true
    button.dataset.disabled = ''
  } else if (part.dataset.passkey === 'give') {
    button.addEventListener('click', () => run(button, sign))
  } else {
    button.form.addEventListener('submit', event => {
      if (part.querySelector('input[type=hidden]').value !== '') return
      event.preventDefault()
      run(button, create)
    })
  }
  part.hidden = false
}
