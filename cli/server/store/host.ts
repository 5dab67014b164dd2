import { readFileSync } from 'node:fs'

/** Boot id of the running kernel: what was written and not synced before another boot is gone. */
export function kernelBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}
