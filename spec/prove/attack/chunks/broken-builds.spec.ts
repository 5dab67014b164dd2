/** Each check of bodies in chunks is one that the attack would miss: a build without it lets something in, or fails. */
import { test } from 'tap'
import { presign } from '../../../support/signing.ts'
import { encodedBody } from '../../../support/chunked-requests.ts'
import { outcomeOf, type PlaneBuild, planeBuild, type Sent } from './admitted.ts'
import { breakBuild, BROKEN_BUILDS } from './broken-builds.ts'
import { spoiledChunks, wholeChunks } from './chunk-cases.ts'
import type { ChunkTarget } from './spoiling.ts'

const SIGNER = { accessKey: 'AKIDEXAMPLE', secretKey: 'a-secret-of-this-spec' }
const HOST = 'h:7600'
const TARGETS: readonly ChunkTarget[] = [{ name: 'PutObject', path: '/bucket/key', query: [] }]
/** Of pieces: the whole body, and some that heads and chunks do not end with. */
const PIECES = [2 ** 22, 1999]

interface Case {
  readonly name: string
  readonly sent: Sent
  readonly codes: readonly string[]
}

/** Everything of the attack, and what depends on the way that a request came. */
function spoiledCases(): Case[] {
  const spoiled = spoiledChunks(TARGETS, HOST, SIGNER, [20_000]).flatMap(({ name, target, headers, body, codes }) =>
    PIECES.map((pieceBytes) => ({ name, sent: { target, headers, body, pieceBytes }, codes })),
  )
  const whole = wholeChunks(TARGETS, HOST, SIGNER, [20_000])
  const unsigned = whole
    .filter((one) => !one.whole.isSigned)
    .map((one) => ({
      name: `${one.name} over HTTP`,
      sent: { ...sentOf(one), unsignedOverHttp: false },
      codes: ['InvalidRequest'],
    }))
  const presigned = whole.map((one) => ({
    name: `${one.name} presigned`,
    sent: presignedOf(one),
    codes: ['NotImplemented'],
  }))
  return [...spoiled, ...unsigned, ...presigned]
}

type Whole = ReturnType<typeof wholeChunks>[number]

function sentOf({ target, whole }: Whole): Sent {
  return { target, headers: whole.request.headers, body: encodedBody(whole.parts), pieceBytes: 1999 }
}

function presignedOf(one: Whole): Sent {
  const headers = one.whole.request.headers.filter(([name]) => name !== 'authorization' && name !== 'x-amz-date')
  const signed = headers.filter(([name]) => name !== 'host')
  const common = { method: 'PUT', path: one.target.path, region: 'us-east-1', now: Date.now(), expiresSeconds: 3600 }
  const url = presign({ ...common, ...SIGNER, headers: signed, endpoint: `http://${HOST}` })
  return { ...sentOf(one), headers, rawTarget: url.slice(`http://${HOST}`.length) }
}

/** Names of the cases that a build answers otherwise than it must. */
async function wronglyAnswered(build: PlaneBuild, cases: readonly Case[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { name, sent, codes } of cases) {
    const outcome = await outcomeOf(build, SIGNER, sent)
    if (typeof outcome !== 'string') wrong.push(`${name}: let in`)
    else if (!codes.includes(outcome)) wrong.push(`${name}: ${outcome}`)
  }
  return wrong
}

const cases = spoiledCases()

test('this build refuses every spoiled body, and takes the whole ones', async (t) => {
  const build = await planeBuild(new URL('../../../../', import.meta.url))
  t.same(await wronglyAnswered(build, cases), [])
  for (const one of wholeChunks(TARGETS, HOST, SIGNER)) {
    for (const pieceBytes of [...PIECES, 1, 2, 3, 8192, 8193]) {
      const outcome = await outcomeOf(build, SIGNER, {
        ...sentOf(one),
        pieceBytes,
        secure: true,
        unsignedOverHttp: false,
      })
      t.equal(
        Buffer.isBuffer(outcome) ? Buffer.compare(outcome, one.whole.options.payload) : outcome,
        0,
        `${one.name} by ${pieceBytes}`,
      )
    }
  }
})

for (const broken of BROKEN_BUILDS) {
  test(`a build that does not check ${broken.name} is found out`, async (t) => {
    const { root, remove } = breakBuild(broken)
    try {
      const wrong = await wronglyAnswered(await planeBuild(root), cases)
      t.ok(wrong.length > 0, `${wrong.length} cases, such as ${wrong[0]}`)
      const letIn = wrong.find((line) => line.endsWith('let in'))
      t.ok(letIn !== undefined || broken.onlyFails === true, letIn ?? wrong[0] ?? 'nothing')
    } finally {
      remove()
    }
  })
}
