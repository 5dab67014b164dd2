// Makes a Debian package of a package by `npm pack`: node cli/packaging/debian/build.mjs PACKAGE.tgz DIRECTORY [COMPRESSION]
// It has the Node.js that runs this, so that native libraries always fit, and needs nothing but dpkg-deb.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = dirname(fileURLToPath(import.meta.url))
const PROGRAM = 'usr/lib/object-store'
const PAGES = 'usr/share/doc/object-store'
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
const SCRIPTS = ['postinst', 'prerm', 'postrm']
const KIBIBYTE = 1024

const [tarball, target, compression = 'xz'] = process.argv.slice(2)
const architecture = ARCHITECTURES[process.arch]
if (tarball === undefined || target === undefined || architecture === undefined) {
  process.stderr.write(
    'usage: node cli/packaging/debian/build.mjs PACKAGE.tgz DIRECTORY [COMPRESSION], on x64 or arm64\n',
  )
  process.exit(2)
}

/** Copies a file of cli/packaging/ or this folder into the tree, with directories. */
function place(root, from, to, mode = 0o644) {
  mkdirSync(dirname(join(root, to)), { recursive: true })
  copyFileSync(join(HERE, from), join(root, to))
  chmodSync(join(root, to), mode)
}

/** Everybody may read what is installed, whatever the umask of this process is and npm's modes are. */
function openToRead(path) {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  const isProgram = entry.isDirectory() || (entry.mode & 0o100) !== 0
  chmodSync(path, isProgram ? 0o755 : 0o644)
  if (entry.isDirectory()) for (const name of readdirSync(path)) openToRead(join(path, name))
}

function kibibytesOf(path) {
  const names = readdirSync(path, { recursive: true })
  return Math.ceil(names.reduce((sum, name) => sum + lstatSync(join(path, name)).size, 0) / KIBIBYTE)
}

function controlOf({ version, description }, root) {
  return `Package: object-store
Version: ${version}
Architecture: ${architecture}
Maintainer: The Object Store authors <object-store@localhost>
Installed-Size: ${kibibytesOf(root)}
Depends: adduser, libc6 (>= 2.28), libstdc++6
Section: net
Priority: optional
Description: ${description.replace(/^Single-node /, 'single-node ')}
 Every change and every request is an entry in a hash-chained journal, which is
 the state of the store and can be verified. The package has its own Node.js.
`
}

/** The whole package as a tree of files. */
function assemble(root) {
  const program = join(root, PROGRAM)
  mkdirSync(program, { recursive: true })
  execFileSync('tar', ['--extract', '--gzip', '--file', tarball, '--directory', program, '--strip-components=1'])
  const manifest = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8'))
  cpSync(process.execPath, join(program, 'bin/node'))
  place(root, 'object-store.sh', 'usr/bin/object-store', 0o755)
  place(root, '../object-store.service', 'lib/systemd/system/object-store.service')
  place(root, '../object-store.toml', 'etc/object-store/object-store.toml')
  place(root, 'copyright', `${PAGES}/copyright`)
  for (const name of ['README.md', 'CHANGELOG.md', 'spec']) symlinkSync(`/${PROGRAM}/${name}`, join(root, PAGES, name))
  const completion = join(root, 'usr/share/bash-completion/completions/object-store')
  mkdirSync(dirname(completion), { recursive: true })
  const command = [join(program, 'cli/object-store.mjs'), 'completion', 'bash']
  writeFileSync(completion, execFileSync(process.execPath, command, { env: { NODE_DISABLE_COMPILE_CACHE: '1' } }))
  openToRead(root)
  mkdirSync(join(root, 'DEBIAN'))
  for (const name of SCRIPTS) place(root, name, `DEBIAN/${name}`, 0o755)
  writeFileSync(join(root, 'DEBIAN/conffiles'), '/etc/object-store/object-store.toml\n')
  writeFileSync(join(root, 'DEBIAN/control'), controlOf(manifest, root))
  return manifest.version
}

const root = mkdtempSync(join(tmpdir(), 'object-store-debian-'))
try {
  chmodSync(root, 0o755)
  const version = assemble(root)
  const file = join(target, `object-store_${version}_${architecture}.deb`)
  mkdirSync(target, { recursive: true })
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', root, file], { stdio: 'inherit' })
} finally {
  rmSync(root, { recursive: true, force: true })
}
