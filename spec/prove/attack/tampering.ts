/** Requests that were signed well and changed afterwards, or signed well for what must not be (S2, S3, S14, S15). */
import { HTTP_DRIVER } from '../../support/http-driver.ts'
import type { Assault } from './assault.ts'
import type { Lane } from '../../support/raw/lane.ts'
import { baseRequests, bytesOf, type SignedRequest } from './signed-requests.ts'
import { refusedThoughSigned } from './signed-in-vain.ts'
import { TAMPERINGS, type Tampered } from './tamperings.ts'

interface Case extends Tampered {
  readonly base: SignedRequest
}

export async function attackSignatures(assault: Assault): Promise<void> {
  const bases = baseRequests(assault.arena)
  const tampered = bases.flatMap((base) =>
    TAMPERINGS.flatMap((tampering) => tampering(base, assault.random)).map((one) => ({ ...one, base })),
  )
  const streamed = refusedThoughSigned(assault.arena).map((one) => ({ ...one, base: one.request }))
  const cases = assault.some([...tampered, ...streamed], ({ base, name }) => [base.name, name])
  await assault.onS3('tampered requests', cases, (lane, one) => refused(assault, lane, one))
  // At the end, since some of them take away what the others are about: without a change each of them passes.
  await assault.onS3('untampered requests', bases, async (lane, base) => {
    const question = { name: `untampered / ${base.name}`, method: base.method, bytes: bytesOf(base), mayChange: true }
    await assault.expect(lane, question, [200, 204, 206])
  })
}

async function refused(assault: Assault, lane: Lane, { base, name: change, request, codes }: Case): Promise<void> {
  const name = `${base.name} / ${change}`
  const { method } = request
  const bytes = bytesOf(request)
  const answer = await assault.ask(lane, { name, method, bytes, mayChange: false })
  if (answer === undefined) return
  const { status, code } = answer
  const isRight = method === 'HEAD' ? status === 403 || status === 400 : codes.includes(code ?? '')
  // Node knows methods by name, and those are in capitals.
  if (HTTP_DRIVER === 'node' && method === method.toLowerCase() && status === 400) return
  if (isRight || (method === 'OPTIONS' && status < 500)) return
  assault.ledger.fault(
    status < 300 ? 'let in' : 'wrong',
    name,
    `${status} ${code} instead of ${codes.join(' or ')}`,
    bytes,
  )
}
