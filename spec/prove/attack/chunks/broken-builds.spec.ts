/** Each check of bodies in chunks is one that the attack would miss: a build without it lets something in, or fails. */
import { test } from 'tap'
import { presign } from '../../../support/signing.ts'
import { everyNth } from '../../../support/share-of-cases.ts'
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
      sent: { ...sentOf(one), unsignedOverHttp: 'false' },
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

/** How a build answers a case otherwise than it must. */
interface WrongAnswer {
  readonly said: string
  readonly isLetIn: boolean
}

/** The cases that a build answers otherwise than it must, one by one. */
async function* wronglyAnswered(build: PlaneBuild): AsyncGenerator<WrongAnswer> {
  for (const { name, sent, codes } of cases) {
    const outcome = await outcomeOf(build, SIGNER, sent)
    if (typeof outcome !== 'string') yield { said: `${name}: let in`, isLetIn: true }
    else if (!codes.includes(outcome)) yield { said: `${name}: ${outcome}`, isLetIn: false }
  }
}

const cases = spoiledCases()

test('this build refuses every spoiled body, and takes the whole ones', async (t) => {
  const build = await planeBuild(new URL('../../../../', import.meta.url))
  for await (const { said } of wronglyAnswered(build)) t.fail(said)
  for (const one of wholeChunks(TARGETS, HOST, SIGNER)) {
    for (const pieceBytes of [...PIECES, 1, 2, 3, 8192, 8193]) {
      const outcome = await outcomeOf(build, SIGNER, {
        ...sentOf(one),
        pieceBytes,
        secure: true,
        unsignedOverHttp: 'false',
      })
      t.equal(
        Buffer.isBuffer(outcome) ? Buffer.compare(outcome, one.whole.options.payload) : outcome,
        0,
        `${one.name} by ${pieceBytes}`,
      )
    }
  }
})

/** What finds out a build: one case is enough. */
async function firstFinding(build: PlaneBuild, failsAreEnough: boolean): Promise<string | undefined> {
  for await (const { said, isLetIn } of wronglyAnswered(build)) if (isLetIn || failsAreEnough) return said
  return undefined
}

/** A build takes half a second to load; that what it changes is there is looked at for each. */
const tried = new Set(everyNth(BROKEN_BUILDS, 4))

for (const broken of BROKEN_BUILDS) {
  test(`a build that does not check ${broken.name} is found out`, async (t) => {
    const { root, remove } = breakBuild(broken)
    try {
      if (!tried.has(broken)) return
      const found = await firstFinding(await planeBuild(root), broken.onlyFails === true)
      t.ok(found !== undefined, found ?? 'no case finds it')
    } finally {
      remove()
    }
  })
}
