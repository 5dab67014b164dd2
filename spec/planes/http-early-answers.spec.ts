/** Answers that are known before the body of the request has come. */
import { test } from 'tap'
import { serve } from './http-server.ts'
import { head, openRaw, sleep } from './raw-client.ts'

const ANSWER = { status: 403, headers: [], body: 'refused early' } as const

test('an early answer arrives also when the client closes and its body comes with the head', async (t) => {
  for (const [what, handler] of [
    ['at once', () => ANSWER],
    ['in the next turn', () => Promise.resolve(ANSWER)],
    ['later', () => sleep(5).then(() => ANSWER)],
  ] as const) {
    const server = await serve(t, handler)
    for (const bytes of [1, 1000, 100_000, 1_000_000]) {
      const request = head('PUT /a', `Content-Length: ${bytes}`, 'Connection: close')
      const together = await openRaw(server.port)
        .send(request + 'x'.repeat(bytes))
        .untilClosed()
      t.match(together, /^HTTP\/1\.1 403 Forbidden\r\n[^]*refused early/, `${what}: ${bytes} bytes behind the head`)
      const apart = openRaw(server.port).send(request)
      await sleep(0)
      apart.send('x'.repeat(bytes))
      t.match(
        await apart.untilClosed(),
        /^HTTP\/1\.1 403 Forbidden\r\n[^]*refused early/,
        `${what}: ${bytes} bytes apart`,
      )
    }
    t.same(server.errors, [])
  }
})
