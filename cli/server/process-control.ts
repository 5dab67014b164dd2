/** A command's control over its process; specs replace it. */
export interface ProcessControl {
  /**
   * Calls back on SIGTERM and SIGINT, which otherwise end the process.
   * @returns a function that removes the listener
   */
  onStopSignal(listener: (signal: string) => void): () => void
  /**
   * Calls back on SIGHUP, which otherwise ends the process.
   * @returns a function that removes the listener
   */
  onReloadSignal(listener: () => void): () => void
  /** Ends the process now, without waiting for anything. */
  exitNow(exitCode: number): void
  /** The same where a thread cannot be ended. */
  exitDespiteThreads(exitCode: number): Promise<void>
  /** Ends the process after a delay even if something keeps it alive. */
  exitSoon(exitCode: number): void
  /** From now on a closed standard output does not end the process. */
  surviveClosedOutput(): void
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const
const EXIT_DELAY_MILLISECONDS = 5000

/**
 * The control of this process. By default the process ends quietly when the reader of its output has gone, as in
 * `object-store config show | head -1`.
 */
export function createProcessControl(): ProcessControl {
  let endsWithOutput = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (endsWithOutput) process.exit()
  })
  return {
    onStopSignal(listener) {
      for (const signal of stopSignals) process.on(signal, listener)
      return () => {
        for (const signal of stopSignals) process.off(signal, listener)
      }
    },
    onReloadSignal(listener) {
      process.on('SIGHUP', listener)
      return () => process.off('SIGHUP', listener)
    },
    exitNow: (exitCode) => process.exit(exitCode),
    exitDespiteThreads,
    exitSoon(exitCode) {
      process.exitCode = exitCode
      setTimeout(() => process.exit(exitCode), EXIT_DELAY_MILLISECONDS).unref()
    },
    surviveClosedOutput() {
      endsWithOutput = false
    },
  }
}

/** The magic number and the version. */
const WASM_HEAD = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

function name(text: string): number[] {
  return [text.length, ...Buffer.from(text)]
}

function section(id: number, ...bytes: readonly number[]): number[] {
  return [id, bytes.length, ...bytes]
}

/**
 * A WebAssembly module whose `_start` calls `proc_exit` of WASI with a code: type, import, function, memory, export, code.
 * @param exitCode 0 to 63
 */
function exitProgram(exitCode: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([
    ...WASM_HEAD,
    ...section(1, 2, 0x60, 1, 0x7f, 0, 0x60, 0, 0),
    ...section(2, 1, ...name('wasi_snapshot_preview1'), ...name('proc_exit'), 0, 0),
    ...section(3, 1, 1),
    ...section(5, 1, 0, 1),
    ...section(7, 2, ...name('memory'), 2, 0, ...name('_start'), 0, 1),
    ...section(10, 1, 6, 0, 0x41, exitCode, 0x10, 0, 0x0b),
  ])
}

/**
 * `process.exit` ends every thread first, and a thread that ends with a listener of uWebSockets.js open aborts the
 * process (see uws-server.ts), so that its exit code is lost. WASI exits through the C library, which does not end
 * threads first; it can fault while one still runs, and the process then ends by SIGSEGV instead.
 */
async function exitDespiteThreads(exitCode: number): Promise<void> {
  try {
    const { WASI } = await import('node:wasi')
    const wasi = new WASI({ version: 'preview1', returnOnExit: false })
    const imports = { wasi_snapshot_preview1: wasi.wasiImport }
    wasi.start((await WebAssembly.instantiate(exitProgram(exitCode), imports)).instance)
  } finally {
    process.exit(exitCode)
  }
}
