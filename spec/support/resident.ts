import { existsSync, readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'

/** Resident bytes of a process; 0 of one that has ended. */
export function residentOf(pid: number): number {
  if (!existsSync(`/proc/${pid}`)) return 0
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) * 1024
}

/** Resident bytes of the processes of a browser: of those of its pages alone, or of all. */
export async function residentOfBrowser(browser: Browser, which: 'pages' | 'all' = 'pages'): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  const counted = processInfo.filter(({ type }) => which === 'all' || type === 'renderer')
  return counted.reduce((sum, { id }) => sum + residentOf(id), 0)
}
