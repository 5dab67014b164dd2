/** Texts that only this server can have given out: what was not is refused, and what was means what it meant. */
import { createCipheriv, createHmac } from 'node:crypto'
import { bucketIdOf } from '../../../../engine/brands.ts'
import { OpaqueIds } from '../../../../engine/keys/opaque-ids.ts'
import { SecretBox, SecretBoxError } from '../../../../engine/keys/secret-box.ts'
import { bearsToken } from '../../../../planes/management/access/bearer-token.ts'
import { decodeContinuationToken, encodeContinuationToken } from '../../../../planes/s3/request/continuation-token.ts'
import type { Random } from '../../../support/random.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const KEY = Buffer.alloc(32, 0x31)
const BUCKET = 7

/** First 16 bytes of the HMAC that the table in the source describes, made by hand. */
function macOf(kind: number, position: Buffer, bucket = BUCKET): Buffer {
  const text = Buffer.from(`object-store/continuation-token/v1\n${bucket}\n`)
  return createHmac('sha256', KEY)
    .update(Buffer.concat([text, Buffer.of(kind), position]))
    .digest()
    .subarray(0, 16)
}

function tokenOf(kind: number, position: Buffer, bucket = BUCKET): string {
  return Buffer.concat([Buffer.of(kind), macOf(kind, position, bucket), position]).toString('base64url')
}

const POSITIONS = ['a', 'a/b/', 'ü€😀', 'k'.repeat(1024)].map((text) => Buffer.from(text))

function judgeContinuation(input: Buffer): Verdict {
  const token = input.toString('latin1')
  const answer = s3Answer(() => decodeContinuationToken(KEY, bucketIdOf(BUCKET), token))
  const bytes = Buffer.from(token, 'base64url')
  const [kind = 0, position] = [bytes[0], bytes.subarray(17)]
  const isOurs = position.length > 0 && tokenOf(kind, position) === token
  if (!('value' in answer)) {
    mustHold(!isOurs || position.length > 1024 || kind < 1 || kind > 2, `${token} was refused`)
    return refused(answer.code)
  }
  mustHold(isOurs, `${token} was never given out`)
  mustBeSame([...answer.value.bytes], [...position], token)
  mustBeSame(encodeContinuationToken(KEY, bucketIdOf(BUCKET), answer.value), token, 'the token again')
  mustBeSame(
    s3Answer(() => decodeContinuationToken(KEY, bucketIdOf(BUCKET + 1), token)),
    { code: 'InvalidArgument' },
    token,
  )
  return accepted(answer.value.kind)
}

/** A right MAC over what chance made of the position; the kind stays one that is given out. */
function repairContinuation(input: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(input.toString('latin1'), 'base64url')
  const position = bytes.length > 17 ? bytes.subarray(17, 17 + 1024) : Buffer.of(random.below(256))
  const bucket = random.below(4) === 0 ? BUCKET + random.below(3) : BUCKET
  return Buffer.from(tokenOf(1 + random.below(2), position, bucket))
}

const IDS = new OpaqueIds(KEY)
const SEQUENCES = [0, 1, 25, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]
const GIVEN_IDS = new Map(SEQUENCES.map((sequence) => [idOf(0n, BigInt(sequence)), sequence]))

/** One AES-256 block: eight bytes of zeros and the sequence; the last of 22 characters first. */
function idOf(high: bigint, low: bigint): string {
  const block = Buffer.alloc(16)
  block.writeBigUInt64BE(high)
  block.writeBigUInt64BE(low, 8)
  const cipher = createCipheriv('aes-256-ecb', KEY, null).setAutoPadding(false)
  const text = Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url')
  return text.slice(-1) + text.slice(0, -1)
}

function judgeOpaqueId(input: Buffer): Verdict {
  const id = input.toString('latin1')
  const sequence = IDS.decode(id)
  mustBeSame(sequence, GIVEN_IDS.get(id), id)
  if (sequence === undefined) return refused()
  mustBeSame([IDS.encode(sequence), IDS.encodeAll([sequence])], [id, [id]], 'the id again')
  return accepted()
}

/** Ids of this key whose zeros are none: as likely as a forged one gets. */
function strangeId(random: Random): string {
  return idOf(1n << BigInt(random.below(64)), BigInt(random.below(100)))
}

const BOX = new SecretBox(KEY)
const SECRET = 'wJalrXUtnFEMI/K7MDENG'
const SEALED = [BOX.seal(SECRET, 'cred-1'), BOX.seal('', 'cred-1')].map((bytes) => Buffer.from(bytes))
const SEALED_FOR_ANOTHER = Buffer.from(BOX.seal(SECRET, 'cred-2'))

function judgeSecretBox(input: Buffer): Verdict {
  const at = SEALED.findIndex((sealed) => sealed.equals(input))
  try {
    const secret = BOX.open(input, 'cred-1')
    mustBeSame(secret, at === -1 ? undefined : [SECRET, ''][at], 'the secret')
    return accepted()
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error
    mustHold(at === -1, 'a secret that was sealed here was refused')
    return refused()
  }
}

const TOKEN = 'osm_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'

function judgeBearer(input: Buffer): Verdict {
  const header = input.toString('latin1')
  const bears = bearsToken(header, TOKEN)
  const [scheme = '', ...rest] = header.split(' ')
  const isRight = scheme.toLowerCase() === 'bearer' && rest.length > 0 && rest.join(' ').replace(/^ +/, '') === TOKEN
  mustBeSame(bears, isRight, header)
  return bears ? accepted() : refused()
}

export const TOKEN_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'continuation-token',
    seeds: POSITIONS.flatMap((position) => [tokenOf(1, position), tokenOf(2, position)]),
    words: ['-', '_', '+', '/', '=', 'A', 'Q'],
    repair: repairContinuation,
    judge: judgeContinuation,
  },
  {
    name: 'opaque-id',
    seeds: [...GIVEN_IDS.keys()],
    words: ['-', '_', '+', '/', '=', 'A', 'Q', 'null'],
    make: strangeId,
    judge: judgeOpaqueId,
  },
  { name: 'secret-box', seeds: SEALED, words: [SEALED_FOR_ANOTHER], bytesMaximum: 1024, judge: judgeSecretBox },
  {
    name: 'bearer-token',
    seeds: [`Bearer ${TOKEN}`, `bEARER   ${TOKEN}`],
    words: ['Bearer ', 'Basic ', TOKEN, '=', ' ', '\t'],
    judge: judgeBearer,
  },
]
