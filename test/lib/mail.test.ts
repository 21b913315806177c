import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { faultText } from '../../src/lib/fault-text.ts'
import { createOutboxMailer, createSmtpMailer } from '../../src/lib/mail.ts'
import { readOutbox } from '../../src/lib/outbox.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-mail-'))
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

const MESSAGE = {
  to: 'ann@example.com',
  subject: 'Xin chào',
  text: 'Liên kết: https://gateway.test/verify?token=abc\n',
}

test('without a server each email is a file that only its owner can read, named in the order of sending', async () => {
  const mailer = createOutboxMailer({ folder: join(folder, 'outbox'), from: 'svc <no-reply@gateway.test>' })
  await mailer.send(MESSAGE)
  await mailer.send({ ...MESSAGE, to: 'binh@example.com' })
  const names = readdirSync(join(folder, 'outbox')).sort()
  expect(names.every(name => name.endsWith('.eml'))).toBe(true)
  const texts = names.map(name => readFileSync(join(folder, 'outbox', name), 'utf8'))
  expect(texts[0]).toContain('To: ann@example.com')
  expect(texts[0]).toContain('From: svc <no-reply@gateway.test>')
  expect(texts[1]).toContain('To: binh@example.com')
  expect(statSync(join(folder, 'outbox', names[0]!)).mode & 0o077).toBe(0)
})

test('the outbox returns what was written, newest first, in any script', async () => {
  const outbox = join(folder, 'read')
  expect(await readOutbox(outbox)).toEqual([])
  const mailer = createOutboxMailer({ folder: outbox, from: 'no-reply@gateway.test' })
  const link = `https://gateway.test/verify?token=${'aZ9_-'.repeat(9)}`
  const texts = [
    `Xin chào,\n\nĐể hoàn tất đăng ký, hãy mở liên kết dưới đây và nhập lại mật khẩu bạn vừa chọn:\n\n${link}\n`,
    `Hello,\n\nopen the link below = and type the password you have just chosen, on one long line that is folded:\n\n${link}\n`,
  ]
  const subject = 'Xác nhận địa chỉ e-mail của bạn tại một dịch vụ có tên rất dài, dài hơn một dòng'
  for (const text of texts) await mailer.send({ to: 'ann@example.com', subject, text })
  const mails = await readOutbox(outbox)
  expect(mails.map(mail => mail.text.trimEnd())).toEqual(texts.map(text => text.trimEnd()).reverse())
  expect(mails[0]).toMatchObject({ to: 'ann@example.com', subject, sentAt: expect.any(Date) })
  expect(await readOutbox(outbox, { limit: 1 })).toHaveLength(1)
})

test('an address cannot smuggle a header or a second recipient in', async () => {
  const mailer = createOutboxMailer({ folder: join(folder, 'hostile'), from: 'no-reply@gateway.test' })
  await mailer.send({ ...MESSAGE, to: 'ann@example.com\r\nBcc: eve@example.com', subject: 'a\r\nBcc: eve@example.com' })
  const text = readFileSync(join(folder, 'hostile', readdirSync(join(folder, 'hostile'))[0]!), 'utf8')
  expect(text).not.toMatch(/^bcc:/im)
  for (const to of ['ann,eve@example.com', 'ann:eve@example.com', '(ann)eve@example.com']) {
    const outbox = mkdtempSync(join(folder, 'syntax-'))
    await createOutboxMailer({ folder: outbox, from: 'no-reply@gateway.test' }).send({ ...MESSAGE, to })
    expect(readFileSync(join(outbox, readdirSync(outbox)[0]!), 'utf8')).not.toMatch(/^to: (\w+ )?<?eve@/im)
  }
})

/** A server that speaks just enough SMTP to receive an email. */
async function startSmtp(answerToData: string): Promise<{ port: number; received: string[] }> {
  const received: string[] = []
  const server = createServer((socket: Socket) => {
    let isBody = false
    socket.write('220 mail.test\r\n')
    socket.on('data', chunk => {
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        received.push(line)
        if (isBody && line !== '.') continue
        if (line === '.') isBody = false
        else if (line === 'DATA') isBody = true
        socket.write(line === 'DATA' ? '354 go on\r\n' : line === '.' ? `${answerToData}\r\n` : '250 ok\r\n')
      }
    })
    socket.on('error', () => {})
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, received }
}

test('the server gets the email, and its refusal is an error', async () => {
  const good = await startSmtp('250 queued')
  const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${good.port}`, from: 'no-reply@gateway.test' })
  await mailer.send(MESSAGE)
  mailer.close()
  expect(good.received).toContain('RCPT TO:<ann@example.com>')
  expect(good.received).toContain('MAIL FROM:<no-reply@gateway.test>')
  const bad = await startSmtp('554 no ann@example.com here')
  const refused = createSmtpMailer({ url: `smtp://127.0.0.1:${bad.port}`, from: 'no-reply@gateway.test' })
  const text = faultText(await refused.send(MESSAGE).catch(error => error))
  expect(text).toContain('the mail server answered 554')
  expect(text).not.toContain('ann@')
  refused.close()
})

test('a server that trickles its answer does not hold an email, or those behind it, for longer than the time of one', async () => {
  const server = createServer(socket => {
    socket.write('220 mail.test\r\n')
    socket.on('data', chunk => {
      const text = chunk.toString()
      if (!text.endsWith('\r\n.\r\n'))
        return void socket.write(text.startsWith('DATA') ? '354 go on\r\n' : '250 ok\r\n')
      const trickle = setInterval(() => socket.write('250-wait\r\n'), 50)
      socket.on('close', () => clearInterval(trickle))
    })
    socket.on('error', () => {})
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `smtp://127.0.0.1:${port}`
  const mailer = createSmtpMailer({ url, from: 'no-reply@gateway.test', sendMs: 500, connectionsMax: 1 })
  const sent = await Promise.allSettled([mailer.send(MESSAGE), mailer.send(MESSAGE)])
  expect(sent.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  mailer.close()
})
