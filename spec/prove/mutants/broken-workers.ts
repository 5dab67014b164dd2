/** Stores whose lifecycle or whose deliveries are careless. */
import { LocalEngineClient } from '../../../engine/client/local-client.ts'
import type { Command, Done } from '../../../engine/commands/commands.ts'
import { WebhookReader } from '../../../projections/catalog/webhook-reader.ts'
import { WebhookLine } from '../../../workers/webhooks/delivery-line.ts'
import { deleteObject } from '../../support/commands.ts'

type Execute = (this: LocalEngineClient, command: Command) => Promise<Done>

/** Has something else carried out in place of some commands. */
function instead(replace: (execute: (command: Command) => Promise<Done>, command: Command) => Promise<Done>) {
  const { execute } = LocalEngineClient.prototype
  const replaced: Execute = function (command) {
    return replace((other) => execute.call(this, other), command)
  }
  LocalEngineClient.prototype.execute = replaced
  return () => {
    LocalEngineClient.prototype.execute = execute
  }
}

/** How far a rule has come is in the journal before what it removes. */
export function cursorFirst(): () => void {
  return instead(async (execute, command) => {
    if (command.kind !== 'expire-page' || !command.movesCursor) return execute(command)
    await execute({ ...command, entries: [] })
    return execute({ ...command, movesCursor: false })
  })
}

/** What is due goes, with a bypass of its lock and without a look at the rule. */
export function expireUnguarded(): () => void {
  return instead(async (execute, command) => {
    if (command.kind !== 'expire-page') return execute(command)
    const { audit, bucket, action } = command
    for (const { key, version } of command.entries) {
      const named = action === 'expiration' ? {} : { version }
      await execute({ ...deleteObject(bucket, key), audit, bypassGovernance: true, ...named }).catch(() => undefined)
    }
    return execute({ ...command, entries: [] })
  })
}

/** A start does not ask what was on its way. */
export function forgetPending(): () => void {
  const { progress } = WebhookReader.prototype
  WebhookReader.prototype.progress = function (this: WebhookReader, webhook) {
    const found = progress.call(this, webhook)
    return found && { ...found, line: { ...found.line, pending: [] } }
  }
  return () => {
    WebhookReader.prototype.progress = progress
  }
}

/** The journal is told of everything that was read as if it was done. */
export function reportAsDone(): () => void {
  const { report } = WebhookLine.prototype
  WebhookLine.prototype.report = function (this: WebhookLine) {
    const told = report.call(this)
    return told && { ...told, report: { ...told.report, waiting: [] } }
  }
  return () => {
    WebhookLine.prototype.report = report
  }
}
