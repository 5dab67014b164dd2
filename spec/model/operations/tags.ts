/** Tags of versions and of buckets. */
import { auditOf } from '../../support/commands.ts'
import { blocks, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type ErrorCode, type HeaderRule, type Operation, reading, refusals, targetOf } from '../expectation.ts'
import { tagPairs } from '../naive-tags.ts'
import { type ModelBucket, type ModelVersion } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { byRules, orRefused, selectorOf, type VersionName } from './by-rules.ts'
import { withoutHeaders } from './locks.ts'
import { idRule, isMalformed, isRefusal, requireVersion } from './reads.ts'

function targetOfTags({ bucket, key, versionId }: VersionName): string {
  return `${targetOf(bucket, key)}?tagging${versionId === undefined ? '' : `&versionId=${encodeURIComponent(versionId)}`}`
}

/** No character that tags may have is written in another way in a document. */
function documentOf(tags: readonly string[]): string {
  const set = tagPairs(tags).map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`)
  return `<Tagging><TagSet>${set.join('')}</TagSet></Tagging>`
}

/** Replaces the tags of a version; none removes them. */
export function setTags(name: VersionName, tags: readonly string[]): Operation {
  const { bucket, key, versionId } = name
  const isRemoval = tags.length === 0
  const ruled = byRules(
    (world) => {
      const audit = auditOf('s3:PUT', `bucket:${bucket}/${key}`)
      return { kind: 'set-tags', audit, bucket, key, version: selectorOf(world, name), tags }
    },
    () => ({ status: isRemoval ? 204 : 200 }),
  )
  const own: ErrorCode[] = isMalformed(versionId) ? ['InvalidArgument'] : []
  return {
    request: {
      method: isRemoval ? 'DELETE' : 'PUT',
      target: targetOfTags(name),
      ...(!isRemoval && { body: documentOf(tags) }),
    },
    outcomes: onBucket(bucket, (world, _bucket, moment) => orRefused(world, own, ruled(world, moment))),
  }
}

export function getTags(name: VersionName): Operation {
  const { key, versionId } = name
  return {
    request: { method: 'GET', target: targetOfTags(name) },
    outcomes: onBucket(name.bucket, (world, bucket) => {
      const found = requireVersion(world, bucket, key, versionId)
      if (isRefusal(found)) return withoutHeaders(found)
      const check = ({ text }: WireAnswer) => sameText(tagsIn(text), tagPairs(found.tags))
      return reading(world, { status: 200, headers: { 'x-amz-version-id': idOf(bucket, found) }, check })
    }),
  }
}

function idOf({ versioning }: ModelBucket, version: ModelVersion): HeaderRule {
  return versioning === 'off' ? undefined : idRule(version)
}

function tagsIn(text: string): unknown[] {
  return blocks(text, 'Tag').map((block) => [firstElement(block, 'Key') ?? '', firstElement(block, 'Value') ?? ''])
}

/** Replaces the tags of a bucket; none removes them. */
export function setBucketTags(bucket: string, tags: readonly string[]): Operation {
  const isRemoval = tags.length === 0
  return {
    request: {
      method: isRemoval ? 'DELETE' : 'PUT',
      target: `/${bucket}?tagging`,
      ...(!isRemoval && { body: documentOf(tags) }),
    },
    outcomes: byRules(
      () => ({ kind: 'set-bucket-tags', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, tags }),
      () => ({ status: 204 }),
    ),
  }
}

export function getBucketTags(bucket: string): Operation {
  return {
    request: { method: 'GET', target: `/${bucket}?tagging` },
    outcomes: onBucket(bucket, (world, { tags }) => {
      if (tags.length === 0) return refusals(world, ['NoSuchTagSet'])
      return reading(world, { status: 200, check: ({ text }) => sameText(tagsIn(text), tagPairs(tags)) })
    }),
  }
}
