import { readFileSync } from 'node:fs'

/** Boot id of the running kernel: unsynced writes before another boot are lost. */
export function kernelBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}
