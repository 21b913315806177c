/**
 * Preloaded into the gateway, this makes it throw as a bug would, with a request's content in the error message. A call
 * triggers it with a model name such as `crash-call`, a dashboard page with the password `crash-page`.
 */

import { Form } from '../../src/dashboard/form.ts'
import { Bill } from '../../src/pipeline/bill.ts'

const content = process.env.CRASH_CONTENT ?? ''
const fault = () => new TypeError(`cannot read\n    at ${content}`, { cause: new RangeError(content) })

const { requested } = Bill.prototype
Bill.prototype.requested = function (name, streamed) {
  if (name === 'crash-call') throw fault()
  if (name === 'crash-rejection') Promise.reject(fault())
  if (name === 'crash-process') {
    setImmediate(() => {
      throw fault()
    })
  }
  requested.call(this, name.startsWith('crash-') ? 'claude-opus-5' : name, streamed)
}

const { secret } = Form.prototype
Form.prototype.secret = function (name) {
  const typed = secret.call(this, name)
  if (typed === 'crash-page') throw fault()
  return typed
}
