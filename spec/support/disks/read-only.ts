/** A file system that turns read-only under a running server, as ext4 does after an error of the disk. */

/**
 * A program for `NODE_OPTIONS=--import` that every thread of the server runs first: from when the file `flag` exists on, no file
 * below `directory` and no name in it can be written, and no Unix socket can be made. Reads go on.
 */
export function readOnlyFrom(flag: string, directory: string): string {
  const program = `
    import fs from 'node:fs'
    import net from 'node:net'
    import { syncBuiltinESMExports } from 'node:module'
    const exists = fs.existsSync
    const refusal = (call) => Object.assign(new Error('EROFS: read-only file system, ' + call), { code: 'EROFS', syscall: call })
    const isReadOnly = () => exists(${JSON.stringify(flag)})
    const isOfStore = (path) => String(path).startsWith(${JSON.stringify(directory)}) || String(path).startsWith('/proc/self/fd/')
    const opens = (flags) => flags !== 'r' && typeof flags === 'string'
    for (const call of ['unlinkSync', 'renameSync', 'mkdirSync', 'rmSync', 'fchmodSync', 'ftruncateSync']) {
      const real = fs[call]
      fs[call] = (path, ...rest) => {
        if (isReadOnly() && (typeof path === 'number' || isOfStore(path))) throw refusal(call)
        return real(path, ...rest)
      }
    }
    const { openSync, writeSync, open, write, unlink, rename } = fs
    fs.openSync = (path, flags, ...rest) => {
      if (isReadOnly() && opens(flags) && isOfStore(path)) throw refusal('open')
      return openSync(path, flags, ...rest)
    }
    fs.writeSync = (descriptor, ...rest) => {
      if (isReadOnly() && fs.readlinkSync('/proc/self/fd/' + descriptor).startsWith(${JSON.stringify(directory)})) throw refusal('write')
      return writeSync(descriptor, ...rest)
    }
    const later = (real, call, refuses) => (...words) => {
      if (!isReadOnly() || !refuses(words)) return real(...words)
      setImmediate(() => words.at(-1)(refusal(call)))
    }
    fs.open = later(open, 'open', ([path, flags]) => opens(flags) && isOfStore(path))
    fs.write = later(write, 'write', () => true)
    fs.unlink = later(unlink, 'unlink', ([path]) => isOfStore(path))
    fs.rename = later(rename, 'rename', ([path]) => isOfStore(path))
    const { listen } = net.Server.prototype
    net.Server.prototype.listen = function (where, ...rest) {
      if (!isReadOnly() || typeof where !== 'string') return listen.call(this, where, ...rest)
      setImmediate(() => this.emit('error', refusal('listen')))
      return this
    }
    syncBuiltinESMExports()`
  return `--import=data:text/javascript,${encodeURIComponent(program)}`
}
