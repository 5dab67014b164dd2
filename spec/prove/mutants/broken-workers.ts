/** Stores whose workers are careless. */
import { LocalEngineClient } from '../../../engine/client/local-client.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import type { Done } from '../../../engine/commands/done.ts'
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
