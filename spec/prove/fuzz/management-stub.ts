/** The management plane over a store that holds one thing of each kind and notes what it is told to do. */
import { NO_CHECKPOINTS } from '../../support/no-state.ts'
import { bucketIdOf, microsecondsOf, millisecondsOf, sequenceOf } from '../../../engine/brands.ts'
import type { AccountState } from '../../../engine/access/state.ts'
import type { EmbedState, ShareState } from '../../../engine/links/state.ts'
import type { WebhookState } from '../../../engine/webhooks/state.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import { MANAGEMENT_ROLES, type ManagementRole } from '../../../engine/events/values.ts'
import { CapabilityTokens } from '../../../engine/links/capability-tokens.ts'
import { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import { SecretBox } from '../../../engine/keys/secret-box.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
import { ConcurrencyGate } from '../../../planes/http/limits/concurrency-gate.ts'
import type { HttpHandler } from '../../../planes/http/exchange.ts'
import { ManagementAuthenticator } from '../../../planes/management/access/authenticate.ts'
import { ChainRuns } from '../../../planes/management/audit/chain-runs.ts'
import { tokenDigest } from '../../../planes/management/access/bearer-token.ts'
import { DownloadTickets } from '../../../planes/management/downloads/download-tickets.ts'
import { FoldedReads } from '../../../planes/management/checkpoints/folded-reads.ts'
import { createManagementHandler } from '../../../planes/management/management-handler.ts'
import { DomainError } from '../../../engine/errors.ts'
import { bucketUsage } from '../../../projections/tables/usage.ts'
import { HeavyWork } from '../../../planes/management/heavy-work.ts'
import type { ManagementServices } from '../../../planes/management/services.ts'
import { S3_ACTIONS } from '../../../planes/s3/authorize.ts'
import { CHECKPOINTS } from './checkpoint-stub.ts'
import { SPEC_CHECKPOINT_KEYS } from '../../support/checkpoint-signing.ts'
import type { AuditQuery } from '../../../projections/audit/audit-query.ts'
import { WITNESS } from './witness-stub.ts'

const NOW = millisecondsOf(Date.UTC(2026, 7, 1))
const KEY = Buffer.alloc(32, 0x77)
const IDS = new OpaqueIds(KEY)
const idOf = (kind: string): string => `${kind}-${'a'.repeat(20)}`
const [ACCOUNT_ID, CREDENTIAL_ID, POLICY_ID] = [idOf('sa'), idOf('cred'), idOf('pol')]
const [TOKEN_ID, WEBHOOK_ID] = [idOf('tok'), idOf('wh')]

/** As the store makes them: no other rule is there to be replaced. */
const RULE_ID = /^rule-[a-z2-7]{20}$/

/** Names that are there. */
export const KNOWN: Readonly<Record<string, string>> = {
  bucket: 'fuzz-bucket',
  key: 'a/key',
  id: ACCOUNT_ID,
  account_id: ACCOUNT_ID,
  credential_id: CREDENTIAL_ID,
  policy_id: POLICY_ID,
  webhook_id: WEBHOOK_ID,
  version_id: IDS.encode(sequenceOf(5)),
}

/** A token of each role. */
export const TOKENS: ReadonlyMap<string, ManagementRole> = new Map(
  MANAGEMENT_ROLES.map((role) => [`osm_${role}`, role]),
)

/** What the plane did for one request. */
export interface Deeds {
  readonly commands: Command[]
  readonly queries: AuditQuery[]
  readonly faults: unknown[]
}

const BUCKET: BucketState = {
  id: bucketIdOf(1),
  name: 'fuzz-bucket',
  region: 'us-east-1',
  createdMicroseconds: microsecondsOf(1),
  versioning: 'enabled',
  lockEnabled: true,
  defaultRetention: undefined,
  quota: { bytes: undefined, objects: undefined },
}
const OBJECT = {
  sequence: 5,
  isNull: false,
  isMarker: false,
  modifiedMicroseconds: 1,
  size: 0,
  etag: 'd41d8cd98f00b204e9800998ecf8427e',
  digest: Buffer.alloc(32),
  headers: [],
  metadata: [],
  payload: undefined,
  lock: undefined,
}
const ACCOUNT: AccountState = {
  account: ACCOUNT_ID,
  title: 'one',
  description: '',
  enabled: true,
  createdMicroseconds: microsecondsOf(1),
  credentials: [{ credential: CREDENTIAL_ID, accessKey: 'OSAAAAAAAAAAAAAAAAAA' }],
  policies: [POLICY_ID],
}
const CREDENTIAL = {
  credential: CREDENTIAL_ID,
  accessKey: 'OSAAAAAAAAAAAAAAAAAA',
  account: ACCOUNT_ID,
  sealedSecret: Buffer.alloc(0),
  enabled: true,
  createdMicroseconds: 1,
  expiresMicroseconds: undefined,
}
const POLICY = { policy: POLICY_ID, title: 'one', createdMicroseconds: 1, statements: [] }

/** The id of a link that was there before, whose place in a path is that of every other thing, or that this request made. */
function linkOf({ commands }: Deeds, known: string, id: string): string | undefined {
  if (id === ACCOUNT_ID) return known
  return commands.some((one) => ('share' in one ? one.share : 'embed' in one && one.embed) === id) ? id : undefined
}

function catalogFor(deeds: Deeds) {
  const bucket = (name: string): BucketState | undefined => {
    const isMade = deeds.commands.some((command) => command.kind === 'create-bucket' && command.bucket === name)
    return name === BUCKET.name || isMade ? { ...BUCKET, name } : undefined
  }
  return {
    bucket,
    buckets: () => [BUCKET],
    bucketUsage: () => bucketUsage.decode(undefined),
    object: (_bucket: number, key: string) => (key === KNOWN['key'] ? OBJECT : undefined),
    version: (_bucket: number, key: string, version: unknown) =>
      key === KNOWN['key'] && version === OBJECT.sequence ? OBJECT : undefined,
    newestVersion: () => OBJECT,
    lockedVersions: () => ({ versions: [], next: undefined }),
    lifecycleRules: () => [],
    cors: () => [],
    bucketOfLifecycleRule: () => undefined,
    bucketOfId: () => BUCKET,
    bucketName: () => BUCKET.name,
    journalMilliseconds: () => NOW,
    endings: () => [],
    share: (id: string) => {
      const share = linkOf(deeds, SHARE.share, id)
      return share && { ...SHARE, share }
    },
    sharesOfKey: () => [SHARE],
    embed: (id: string) => {
      const embed = linkOf(deeds, EMBED.embed, id)
      return embed && { ...EMBED, embed }
    },
    embedsOfKey: () => [EMBED],
    list: () => ({ objects: [], prefixes: [], next: undefined }),
    listVersions: () => ({ entries: [], prefixes: [], next: undefined }),
  }
}

const ACCESS = {
  version: () => 1,
  accounts: () => [ACCOUNT],
  account: (id: string) => (id === ACCOUNT.account ? ACCOUNT : undefined),
  credential: (accessKey: string) => (accessKey === CREDENTIAL.accessKey ? CREDENTIAL : undefined),
  policies: () => [POLICY],
  policy: (id: string) => (id === POLICY.policy ? POLICY : undefined),
  tokens: () => [],
  nameOf: (id: string) => (id === ACCOUNT.account ? ACCOUNT.title : undefined),
  lastUse: () => microsecondsOf(1),
  revokedToken: () => undefined,
  deletedCredential: () => undefined,
  tokenByDigest: (digest: Uint8Array) => {
    const found = [...TOKENS].find(([token]) => tokenDigest(token).equals(digest))
    if (found === undefined) return undefined
    return {
      token: TOKEN_ID,
      title: 'one',
      role: found[1],
      digest,
      createdMicroseconds: 1,
      expiresMicroseconds: undefined,
    }
  },
}

const WEBHOOK: WebhookState = {
  webhook: WEBHOOK_ID,
  target: 'https://receiver.example/events',
  sealedQuery: undefined,
  eventTypes: ['object.created'],
  bucket: undefined,
  prefix: undefined,
  enabled: true,
  createdMicroseconds: microsecondsOf(1),
  startSequence: sequenceOf(1),
  sealedSecret: Buffer.alloc(0),
  previousSecret: undefined,
}

const LINK = {
  bucketId: BUCKET.id,
  key: 'a/key',
  version: undefined,
  digest: Buffer.alloc(32),
  createdMicroseconds: microsecondsOf(1),
  expiresMicroseconds: undefined,
  revokedMicroseconds: undefined,
}
const TOKENS_OF_LINKS = new CapabilityTokens({ capabilityDigests: KEY, capabilityTokens: KEY })
const sealedOf = (kind: 'share' | 'embed') => TOKENS_OF_LINKS.create(kind, idOf(kind)).sealedToken
const SHARE: ShareState = {
  ...LINK,
  share: idOf('share'),
  sealedToken: sealedOf('share'),
  fileName: undefined,
  password: undefined,
  maximumDownloads: undefined,
  downloads: 0,
}
const EMBED: EmbedState = {
  ...LINK,
  embed: idOf('embed'),
  sealedToken: sealedOf('embed'),
  allowedOrigins: ['*'],
  cacheSeconds: 60,
}

const SHARING = {
  tokens: TOKENS_OF_LINKS,
  settings: () => ({
    enabled: true,
    maximumLifetimeSeconds: undefined,
    requiresPassword: false,
    shareUrl: 'https://files.example',
    embedUrl: 'https://files.example',
  }),
  hashPassword: async () => ({
    salt: Buffer.alloc(16),
    hash: Buffer.alloc(32),
    cost: 1,
    blockSize: 1,
    parallelization: 1,
  }),
}

const WEBHOOKS = {
  reader: {
    webhooks: () => [WEBHOOK],
    webhook: (id: string) => (id === WEBHOOK.webhook ? WEBHOOK : undefined),
    progress: () => undefined,
    log: () => [],
  },
  secrets: new SecretBox(KEY),
  rules: { allowHttp: false, allowPrivateNetworks: false },
  test: async () => ({ event: 'test-00', timeMicroseconds: NOW * 1000, status: 204, error: undefined }),
}

const EVENT_PLACE = { sequence: 9, index: 0, timeMicroseconds: NOW * 1000 }
const EVENTS = {
  head: EVENT_PLACE,
  beginning: { sequence: 1, timeMicroseconds: 1 },
  read: async () => ({
    events: [],
    position: EVENT_PLACE,
    isAtEnd: true,
    damaged: false,
    damage: { entries: [], count: 0 },
    head: EVENT_PLACE,
  }),
}

function auditFor(deeds: Deeds) {
  return {
    head: { sequence: 9, hash: '0'.repeat(64) },
    query: async (query: AuditQuery) => {
      deeds.queries.push(query)
      return {
        records: [],
        next: undefined,
        head: { timeMicroseconds: NOW * 1000, sequence: 9 },
        scanTruncated: false,
        damaged: false,
        damage: { entries: [], count: 0 },
      }
    },
    chain: async (from: number, limit: number) => {
      const verified = Math.min(limit, 10)
      return {
        from,
        checked: verified,
        verified,
        headSequence: 9,
        headHash: '0'.repeat(64),
        nextFrom: undefined,
        problems: [],
      }
    },
  }
}

/** The handler of the plane, which notes in `deeds` what it does. */
export function stubbedPlane(deeds: Deeds): HttpHandler {
  const services = {
    engine: {
      execute: async (command: Command) => {
        if (command.kind === 'replace-lifecycle-rule' && !RULE_ID.test(command.rule.rule)) {
          throw new DomainError('rule-not-found', command.rule.rule)
        }
        deeds.commands.push(command)
        return { sequence: 10, timeMicroseconds: NOW * 1000 }
      },
      record: () => undefined,
      recordFailedChange: () => undefined,
    },
    catalog: { snapshot: () => catalogFor(deeds) },
    access: ACCESS,
    audit: auditFor(deeds),
    chain: {
      kept: () => ({ whole: undefined, part: undefined, ignored: undefined }),
      runs: new ChainRuns(
        { keep: () => undefined },
        () => NOW,
        () => undefined,
      ),
    },
    damageFound: () => undefined,
    checkpoints: CHECKPOINTS,
    witness: WITNESS,
    checkpointFacts: () => ({ ...NO_CHECKPOINTS, isOn: true, treeSize: 9, signed: 1 }),
    checkpointKeys: SPEC_CHECKPOINT_KEYS,
    events: EVENTS,
    webhooks: WEBHOOKS,
    sharing: SHARING,
    heavy: new HeavyWork(),
    foldedReads: new FoldedReads(() => NOW),
    downloads: new DownloadTickets(() => NOW),
    secrets: new SecretBox(KEY),
    versionIds: IDS,
    actions: S3_ACTIONS,
    version: '0.0.0-fuzz',
    deploymentId: '00',
    clock: () => NOW,
    expiryClock: () => NOW,
  }
  const configured = { systemToken: undefined, rootAccessKey: 'root-access-key', rootSecretKey: 'root-secret-key' }
  return createManagementHandler({
    services: services as unknown as ManagementServices,
    authenticator: new ManagementAuthenticator(
      configured,
      ACCESS as unknown as ManagementServices['access'],
      () => NOW,
    ),
    gate: new ConcurrencyGate({ operationsMaximum: 4, queueMaximum: 4, waitMillisecondsMaximum: 1000 }),
    scrapeToken: undefined,
    observe: ({ error }) => {
      if (error !== undefined) deeds.faults.push(error)
    },
  })
}
