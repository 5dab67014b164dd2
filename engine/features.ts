/**
 * Every feature of the engine: its changes, the rules that decide its commands, which of their settings are audited, the
 * helpers that its rules are passed, and the kinds of commands that have no attempt, since the store itself sends them.
 * The journal reads the changes of each
 * feature, whether it is on or off.
 */
import { access } from './access/feature.ts'
import { checkpoints } from './checkpoints/feature.ts'
import { clock } from './clock/feature.ts'
import { lifecycle } from './lifecycle/feature.ts'
import { links } from './links/feature.ts'
import { scrub } from './scrub/feature.ts'
import { merged } from './merged.ts'
import { webhooks } from './webhooks/feature.ts'

export const features = [access, webhooks, lifecycle, links, checkpoints, scrub, clock] as const

/** The rules of all of them, one for each of their commands. */
export const featureRules = merged(features.map(({ rules }) => rules))
export type FeatureRules = typeof featureRules
