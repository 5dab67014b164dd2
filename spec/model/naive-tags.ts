/** What the model of a store does about tags of versions, by the API reference of S3. */
import { sequenceOf } from '../../engine/brands.ts'
import type { Command } from '../../engine/commands/commands.ts'
import { type Outcome, refuse } from './refusals.ts'
import type { ModelState } from './state.ts'

/** Replaces the tags of a version, whatever lock it is under; undefined for any other command. */
export function changeTags(state: ModelState, command: Command): Outcome | undefined {
  if (command.kind !== 'set-tags') return undefined
  const { key, version: selector, tags } = command
  const bucket = state.buckets.get(command.bucket) ?? refuse('bucket-not-found')
  const found = selector === undefined ? state.current(bucket, key) : state.find(bucket, key, selector)
  if (found === undefined) return refuse(selector === undefined ? 'object-not-found' : 'version-not-found')
  if (found.isMarker) return refuse('version-is-marker')
  found.tags = tags
  return { code: 'done', version: found.isNull ? 'null' : sequenceOf(found.sequence) }
}

/** Tags in the form of the header `x-amz-tagging`; undefined for none. */
export function tagText(tags: readonly string[] | undefined): string | undefined {
  const pairs = tagPairs(tags).map((pair) => pair.map(encodeURIComponent).join('='))
  return pairs.length === 0 ? undefined : pairs.join('&')
}

/** Keys with their values. */
export function tagPairs(tags: readonly string[] = []): [key: string, value: string][] {
  return tags.flatMap((key, index) => (index % 2 === 0 ? [[key, tags[index + 1] ?? '']] : []))
}
