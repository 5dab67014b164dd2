/** Settings in audit records, and how their values are written there. */
import type { Sent } from '../commands/spine-commands.ts'
import { tagQuery } from '../domain/tags.ts'
import type { StateReader } from '../state-ports.ts'

/** A setting that a command changes: its name in the metadata, its previous value, if any, and the wanted value. */
export type Setting = readonly [name: string, before: string | number | undefined, wanted: string | number]

/**
 * Reads the settings before and after these commands; commands without a row are fully described by their resource.
 * `Passed`: as for the rules.
 */
export type SettingReaders<Commands, Passed = unknown> = {
  readonly [K in keyof Commands]?: (
    command: Sent<Commands, K>,
    context: { readonly state: StateReader } & Passed,
  ) => readonly Setting[]
}

export const NONE = 'none'
export const UNLIMITED = 'unlimited'

export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

export function expiryText(microseconds: number | undefined): string {
  return microseconds === undefined ? 'never' : timeText(microseconds / 1000)
}

export function statusText(enabled: boolean): string {
  return enabled ? 'enabled' : 'disabled'
}

export function listText(items: readonly unknown[]): string {
  return items.length === 0 ? NONE : JSON.stringify(items)
}

export function tagsText(tags: readonly string[] | undefined): string {
  return tags === undefined || tags.length === 0 ? NONE : tagQuery(tags)
}
