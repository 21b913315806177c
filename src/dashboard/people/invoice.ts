/** The form for a customer's invoice details: name, tax code, address and email. */

import {
  checkInvoiceDetails,
  INVOICE_CHARACTERS_MAX,
  type InvoiceDetails,
  type InvoiceFaults,
  readInvoiceDetails,
  writeInvoiceDetails,
} from '../../accounts/invoice-details.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'

const PATH = '/account/invoice'

export const INVOICE_PAGES: readonly Page[] = [
  { method: 'GET', path: PATH, authentication: 'session', purpose: 'To whom invoices are made out', handle: show },
  { method: 'POST', path: PATH, authentication: 'session', purpose: 'Changes it', handle: change },
]

async function show(request: PageRequest): Promise<Answer> {
  const { options } = request
  const { accountId, email } = signedIn(request)
  const details = await readInvoiceDetails(options.sql, accountId)
  return invoicePage(request, details ?? { name: '', taxCode: '', address: '', email, wanted: false }, {})
}

function invoicePage(request: PageRequest, details: InvoiceDetails, faults: InvoiceFaults): Answer {
  const { language, query } = request
  const words = Object.entries(faults).map(([field, fault]) => [field, text(language, `invoice.fault.${fault}`)])
  return {
    kind: 'page',
    template: 'invoice',
    title: text(language, 'invoice.title'),
    section: 'account',
    status: words.length === 0 ? 200 : 422,
    data: {
      details,
      max: INVOICE_CHARACTERS_MAX,
      faults: { name: null, taxCode: null, address: null, email: null, ...Object.fromEntries(words) },
      // A tax code with a wrong check digit is accepted if it is submitted again unchanged.
      sure: faults.taxCode === 'wrong_check' ? details.taxCode : '',
      notice: query.choice('done', ['saved']) === null ? null : text(language, 'invoice.done'),
    },
  }
}

async function change(request: PageRequest): Promise<Answer> {
  const { options, form } = request
  const given: InvoiceDetails = {
    name: form.text('name', INVOICE_CHARACTERS_MAX.name),
    taxCode: form.text('tax_code', INVOICE_CHARACTERS_MAX.taxCode),
    address: form.text('address', INVOICE_CHARACTERS_MAX.address),
    email: form.text('email', INVOICE_CHARACTERS_MAX.email + 1),
    wanted: form.choice('wanted', ['yes']) !== null,
  }
  const { faults, details } = checkInvoiceDetails(given, { sureOf: form.text('sure', 20) })
  if (Object.keys(faults).length > 0) return invoicePage(request, details, faults)
  await writeInvoiceDetails(options.sql, signedIn(request).accountId, details)
  return { kind: 'redirect', to: `${PATH}?done=saved` }
}
