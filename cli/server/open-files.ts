import { readdirSync, readFileSync } from 'node:fs'

/**
 * How many files this process may have open; infinity without a limit.
 * @param limits content of /proc/self/limits
 */
export function openFilesMaximum(limits: string = readFileSync('/proc/self/limits', 'utf8')): number {
  return Number(/^Max open files +(?<soft>\d+)/m.exec(limits)?.groups?.['soft'] ?? Number.POSITIVE_INFINITY)
}

/** How many files this process has open, without the descriptor of this listing. */
export function openFiles(): number {
  return readdirSync('/proc/self/fd').length - 1
}
