/** Policies as AWS writes them: what they become here, and that what cannot be translated is refused by its place. */
import { test } from 'tap'
import { AwsPolicyError } from '../../../engine/aws-policies/aws-elements.ts'
import { translateAccountPolicy, translateBucketPolicy } from '../../../engine/aws-policies/aws-policy.ts'
import { compilePolicies, isAllowed } from '../../../engine/access/policy.ts'
import { S3_ACTIONS } from '../../../planes/s3/authorize.ts'

const Version = '2012-10-17'
const GET = { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' }

function ofAccounts(statement: unknown): unknown {
  return translateAccountPolicy({ Version, Statement: statement }, S3_ACTIONS)
}

const ACCOUNTS = new Map([
  ['alice', 'acc-1'],
  ['acc-1', 'acc-1'],
  ['team/bob', 'acc-2'],
])

function accountOf(name: string): string | undefined {
  return ACCOUNTS.get(name)
}

function ofBucket(statement: unknown) {
  return translateBucketPolicy({ Version, Statement: statement }, { bucket: 'b', actions: S3_ACTIONS, accountOf })
}

function refusal(translate: () => unknown): string {
  try {
    return `translated: ${JSON.stringify(translate())}`
  } catch (error) {
    if (error instanceof AwsPolicyError) return error.message
    throw error
  }
}

test('what a document says in the words of this store', (t) => {
  t.same(ofAccounts(GET), [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:b/*'] }])
  t.same(
    ofAccounts([{ Sid: 's', Effect: 'Deny', Action: ['s3:DELETEobject*', '*'], Resource: ['*', 'arn:aws:s3:::c*'] }]),
    [{ effect: 'deny', actions: ['s3:DeleteObject*', 's3:*'], resources: ['bucket:*', 'bucket:c*'] }],
  )
  t.same(
    ofAccounts({ ...GET, Action: ['s3:GetObject', 's3:GetObjectVersion'] }),
    [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:b/*'] }],
    'reading a version is a part of reading here',
  )
  const all = { Effect: 'Allow', Action: 's3:*', Resource: ['arn:aws:s3:::b', 'arn:aws:s3:::b/*'] }
  t.same(ofAccounts(all), [{ effect: 'allow', actions: ['s3:*'], resources: ['bucket:b', 'bucket:b/*'] }])
  const prefix = { StringLike: { 's3:prefix': ['home/*', 'x*'] } }
  t.same(
    ofAccounts({ Effect: 'Allow', Action: 's3:ListBucket', Resource: 'arn:aws:s3:::b', Condition: prefix }),
    [{ effect: 'allow', actions: ['s3:ListBucket'], resources: ['bucket:b/home/*', 'bucket:b/x*'] }],
    'a listing below a prefix',
  )
  t.end()
})

function accounts(Principal: unknown) {
  return ofBucket({ ...GET, Principal }).map((one) => one.accounts)
}

test('who is meant', (t) => {
  t.same(accounts('*'), [undefined])
  t.same(accounts({ AWS: '*' }), [undefined])
  t.same(accounts({ AWS: ['alice', '*'] }), [undefined])
  t.same(accounts({ AWS: ['alice', 'acc-1', 'arn:aws:iam::123456789012:user/team/bob'] }), [['acc-1', 'acc-2']])
  t.end()
})

test('keys alone give no listing, though here a resource of keys would allow it', (t) => {
  for (const Action of ['s3:*', '*', 's3:List*', ['s3:GetObject', 's3:ListBucket']]) {
    const compiled = compilePolicies(translateAccountPolicy({ Statement: { ...GET, Action } }, S3_ACTIONS))
    t.notOk(isAllowed(compiled, 's3:ListBucket', 'bucket:b/x'), JSON.stringify(Action))
    if (Action !== 's3:List*') t.ok(isAllowed(compiled, 's3:GetObject', 'bucket:b/x'), JSON.stringify(Action))
  }
  t.match(
    refusal(() => ofAccounts({ ...GET, Action: 's3:ListBucket' })),
    /^Statement\.Action: are listings/,
  )
  t.end()
})

test('what cannot be translated is refused by its place', (t) => {
  const condition = (Condition: unknown) => ({ ...GET, Condition })
  const deny = { ...GET, Effect: 'Deny' }
  for (const [statement, message] of [
    [[GET, { ...GET, Sid: 'x', Effect: 'allow' }], 'Statement[1] (Sid "x").Effect: is "Allow" or "Deny"'],
    [{ ...GET, NotAction: 's3:*' }, 'Statement.NotAction: is not supported: list Action'],
    [{ ...GET, NotResource: '*' }, 'Statement.NotResource: is not supported: list Resource'],
    [{ ...GET, NotPrincipal: '*' }, 'Statement.NotPrincipal: is not supported: list Principal'],
    [{ ...GET, effect: 'Allow' }, 'Statement.effect: is not an element of a statement'],
    [{ ...GET, Principal: '*' }, 'Statement.Principal: a policy of accounts has none'],
    [{ ...GET, Action: [] }, 'Statement.Action: has 1 to 100 values'],
    [{ ...GET, Action: ['s3:GetObject', 7] }, 'Statement.Action[1]: is a text'],
    [{ ...GET, Action: undefined }, 'Statement.Action: is missing'],
    [{ ...GET, Action: 'kms:Decrypt' }, 'Statement.Action: "kms:Decrypt" is not an action of S3'],
    [{ ...GET, Action: 's3:RestoreObject' }, 'Statement.Action: "s3:RestoreObject" is not an action of this server'],
    [{ ...GET, Action: 's3:Nothing*' }, 'Statement.Action: "s3:Nothing*" begins no action of this server'],
    [{ ...GET, Action: 's3:*Object' }, 'Statement.Action: "s3:*Object" has a wildcard that is not a * at its end'],
    [{ ...GET, Action: 's3:Get?bject' }, 'Statement.Action: "s3:Get?bject" has a wildcard'],
    [{ ...GET, Action: 's3:GetObjectVersion' }, 'Statement.Action: "s3:GetObjectVersion" is a part of s3:GetObject'],
    [{ ...deny, Action: 's3:GetObjectVersion*' }, 'Statement.Action: "s3:GetObjectVersion*" is a part of s3:GetObject'],
    [{ ...deny, Action: 's3:PutB*' }, 'Statement.Action: "s3:PutB*" is a part of s3:ManageBucket'],
    [{ ...GET, Resource: 'b/*' }, 'Statement.Resource: "b/*" is not arn:aws:s3:::BUCKET or'],
    [{ ...GET, Resource: 'arn:aws:s3:::' }, 'Statement.Resource: "arn:aws:s3:::" is not arn'],
    [{ ...GET, Resource: 'arn:aws:s3:::b/*/x' }, 'Statement.Resource: "arn:aws:s3:::b/*/x" has a wildcard that is not'],
    [{ ...GET, Resource: 'arn:aws:s3:::b/?' }, 'Statement.Resource: "arn:aws:s3:::b/?" has the wildcard ?'],
    [
      { ...GET, Resource: 'arn:aws:s3:::b/${aws:username}/*' },
      'Statement.Resource: "arn:aws:s3:::b/${aws:username}/*" has a policy',
    ],
    [condition({ Bool: { 'aws:SecureTransport': 'true' } }), 'Statement.Condition.Bool: the operator is not supported'],
    [condition({ StringLike: { 'aws:Referer': '*' } }), 'Statement.Condition.StringLike.aws:Referer: the key is not'],
    [
      condition({ StringLike: { 's3:prefix': 'a*', 's3:delimiter': '/' } }),
      'Statement.Condition.StringLike.s3:delimiter',
    ],
    [condition({ StringLike: { 's3:prefix': 'a' } }), 'Statement.Condition.StringLike.s3:prefix: "a" has no *'],
    [condition({ StringLike: { 's3:prefix': 'a*' } }), 'Statement.Condition.StringLike: is not supported here'],
    [condition([]), 'Statement.Condition: is not a JSON object'],
    ['text', 'Statement: is not a JSON object'],
    [[], 'Statement: is missing'],
    [Array.from({ length: 101 }, () => GET), 'Statement: has at most 100'],
    [
      Array.from({ length: 60 }, () => ({ ...GET, Action: 's3:*', Resource: ['arn:aws:s3:::b/*', 'arn:aws:s3:::c'] })),
      'Statement: makes 120',
    ],
  ] as const) {
    const said = refusal(() => ofAccounts(statement))
    t.equal(said.slice(0, message.length), message, said)
  }
  for (const [document, message] of [
    [[], 'the policy: is not a JSON object'],
    [{ Version, Statement: GET, Extra: 1 }, 'Extra: is not an element of a policy'],
    [{ Version: '2013', Statement: GET }, 'Version: is "2012-10-17"'],
    [{ Id: 7, Statement: GET }, 'Id: is a text'],
    [{ Version }, 'Statement: is missing'],
    [JSON.parse('{"__proto__":{},"Statement":[]}'), '__proto__: is not an element'],
  ] as const) {
    t.equal(refusal(() => translateAccountPolicy(document, S3_ACTIONS)).slice(0, message.length), message)
  }
  for (const [changed, message] of [
    [{ Principal: undefined }, 'Statement.Principal: is "*" or'],
    [{ Principal: ['*'] }, 'Statement.Principal: is "*" or'],
    [{ Principal: {} }, 'Statement.Principal.AWS: is missing'],
    [{ Principal: { Service: 'x' } }, 'Statement.Principal.Service: is not supported'],
    [{ Principal: { CanonicalUser: 'x', AWS: '*' } }, 'Statement.Principal.CanonicalUser: is not supported'],
    [{ Principal: { AWS: 'nobody' } }, 'Statement.Principal.AWS: "nobody" does not name exactly one service account'],
    [
      { Principal: { AWS: 'arn:aws:iam::1:role/alice' } },
      'Statement.Principal.AWS: "arn:aws:iam::1:role/alice" does not',
    ],
    [
      { Principal: { AWS: 'arn:aws:iam::1:root' } },
      'Statement.Principal.AWS: "arn:aws:iam::1:root" is not supported: root',
    ],
    [{ Principal: '*', Resource: '*' }, 'Statement.Resource: "*" is not arn'],
    [
      { Principal: '*', Resource: 'arn:aws:s3:::bb/*' },
      'Statement.Resource: "arn:aws:s3:::bb/*" is not in this bucket',
    ],
    [{ Principal: '*', Resource: 'arn:aws:s3:::b*' }, 'Statement.Resource: "arn:aws:s3:::b*" is not in this bucket'],
  ] as const) {
    const said = refusal(() => ofBucket({ ...GET, ...changed }))
    t.equal(said.slice(0, message.length), message, said)
  }
  t.end()
})
