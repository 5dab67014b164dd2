/** Policies of witnesses (C2SP tlog-policy): what they mean, and every fault with its line. */
import { test } from 'tap'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { checkpointText, readCheckpointNote, verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureLine, cosignedMessage, cosignerKeyText } from '../../engine/checkpoints/cosignature.ts'
import { cosignersOf, isQuorum, readWitnessPolicy } from '../../engine/checkpoints/witness-policy.ts'

const keys = Array.from({ length: 40 }, (_, at) => new SigningKey(Buffer.alloc(32, at + 1)))
const vkey = (at: number) => cosignerKeyText(`w.example/${at}`, (keys[at] as SigningKey).publicKey)
const LOG = verifierKeyText('log.example/x', (keys[39] as SigningKey).publicKey)

function policyOf(...lines: readonly string[]) {
  return readWitnessPolicy(Buffer.from(`${lines.join('\n')}\n`))
}

const SIX = [0, 1, 2, 3, 4, 5].map((at) => `witness w${at} ${vkey(at)}`)

test('groups within groups, thresholds, any and all', async (t) => {
  const policy = policyOf(
    '# two organisations',
    `\tlog  ${LOG}   https://log.example/`,
    '',
    ...SIX,
    'group x 2 w0 w1 w2',
    'group y any w3 w4',
    'group both all x y',
    'quorum both',
  )
  t.equal(policy.logs.length, 1)
  const cases: readonly (readonly [readonly number[], boolean])[] = [
    [[], false],
    [[0, 1], false],
    [[0, 1, 3], true],
    [[0, 1, 2, 3, 4], true],
    [[0, 3, 4], false],
    [[3, 4, 5], false],
  ]
  for (const [who, isEnough] of cases) {
    t.equal(
      isQuorum(
        policy,
        who.map((at) => `w${at}`),
      ),
      isEnough,
      String(who),
    )
  }
  t.ok(isQuorum(policyOf('quorum none'), []))
  t.notOk(isQuorum(policyOf(...SIX, 'quorum w5'), ['w4']))
  t.ok(isQuorum(policyOf(...SIX, 'quorum w5'), ['w5', 'w5']))
  t.equal(policyOf(`witness é ${vkey(0)} https://w.example/`, 'quorum é').witnesses[0]?.url, 'https://w.example/')
})

test('T10 who has cosigned: other keys are ignored, one key counts once', async (t) => {
  const policy = policyOf(...SIX, 'group g 2 w0 w1 w2', 'quorum g')
  const text = checkpointText({ origin: 'o', size: 7, root: Buffer.alloc(32, 1) })
  const line = (at: number, seconds: number, over = text) => {
    const key = keys[at] as SigningKey
    return cosignatureLine(`w.example/${at}`, key.publicKey, {
      seconds,
      signature: key.sign(cosignedMessage(seconds, over)),
    })
  }
  const who = (...lines: readonly string[]) =>
    cosignersOf(policy, readCheckpointNote(`${text.toString()}\n${lines.join('')}`)).map(
      ({ witness, cosignature }) => `${witness.name} ${cosignature.seconds}`,
    )
  t.same(who(line(0, 5), line(0, 5), line(0, 9), line(20, 5)), ['w0 5'])
  t.same(who(line(1, 5), line(0, 6)), ['w0 6', 'w1 5'])
  t.same(who(line(0, 5), line(1, 5, Buffer.from('other\n'))), ['w0 5'])
})

test('every fault is told with its line', async (t) => {
  const first = SIX[0] as string
  const many = Array.from({ length: 33 }, (_, at) => `witness m${at} ${vkey(at)}`)
  const groups = Array.from({ length: 33 }, (_, at) => `group g${at} any ${at === 0 ? 'w0' : `g${at - 1}`}`)
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['hello'], /^line 1: must begin with log, witness, group or quorum, is "hello"/],
    [['constructor x'], /^line 1: must begin/],
    [['', 'witness'], /^line 2: must be: witness/],
    [['witness a'], /^line 1: must be: witness/],
    [[`witness a ${vkey(0)} https://x/ more`], /^line 1: must be: witness/],
    [['witness a nokey'], /^line 1: the key is not an Ed25519 key of a witness/],
    [[`witness a ${LOG}`], /^line 1: the key is not an Ed25519 key of a witness/],
    [[`witness a ${vkey(0).replace(/\+[0-9a-f]{8}/, '+00000000')}`], /^line 1: the id of the key/],
    [[`witness none ${vkey(0)}`], /^line 1: "none" cannot be defined/],
    [[`witness ${'n'.repeat(129)} ${vkey(0)}`], /^line 1: the name has more than 128 bytes/],
    [[first, `witness w0 ${vkey(1)}`], /^line 2: "w0" is already defined/],
    [[first, `witness b ${vkey(0)}`], /^line 2: another witness has the same public key/],
    [[`witness a ${vkey(0)} ftp://x/`], /^line 1: the address is not a URL/],
    [[`witness a ${vkey(0)} https://${'x'.repeat(600)}/`], /^line 1: the address is not a URL/],
    [[`log ${vkey(0)}`], /^line 1: the key is not an Ed25519 key of a log/],
    [[`log ${LOG}`, `log ${LOG}`], /^line 2: another log has the same public key/],
    [['log'], /^line 1: must be: log/],
    [[first, 'group g'], /^line 2: must be: group/],
    [[first, 'group g 1'], /^line 2: must be: group/],
    [[first, 'group g 2 w0'], /^line 2: the threshold must be all, any, or 1 to 1, is "2"/],
    [[first, 'group g 0 w0'], /^line 2: the threshold/],
    [[first, 'group g 01 w0'], /^line 2: the threshold/],
    [[first, 'group g constructor w0'], /^line 2: the threshold/],
    [[first, 'group g any g'], /^line 2: "g" is not defined above/],
    [[first, 'group g any w1'], /^line 2: "w1" is not defined above/],
    [[first, 'group g any none'], /^line 2: "none" is not defined above/],
    [[first, 'group g 1 w0 w0'], /^line 2: "w0" is already a member/],
    [[first, 'group g any w0', 'group h any w0'], /^line 3: "w0" is already a member/],
    [[first, 'quorum w1'], /^line 2: "w1" is not defined above/],
    [['quorum later', `witness later ${vkey(0)}`], /^line 1: "later" is not defined above/],
    [[first, 'quorum w0', 'quorum none'], /^line 3: a second quorum/],
    [['quorum'], /^line 1: must be: quorum/],
    [['quorum none x'], /^line 1: must be: quorum/],
    [[first], /^the line "quorum NAME" or "quorum none" is missing/],
    [['quorum none\r'], /^line 1: a control character/],
    [many, /^line 33: more than 32 lines/],
    [[first, ...groups], /^line 34: more than 32 groups/],
  ]
  for (const [lines, message] of cases) t.throws(() => policyOf(...lines), { name: 'WitnessPolicyError', message })
  t.throws(() => readWitnessPolicy(Buffer.of(0x23, 0xff, 10)), { message: /not UTF-8/ })
  t.throws(() => readWitnessPolicy(Buffer.alloc(65_537, 10)), { message: /more than 65536 bytes/ })
})
