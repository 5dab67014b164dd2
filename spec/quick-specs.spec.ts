import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Test, test } from 'tap'
import { QuickSpecs } from './quick-specs.ts'

function project(t: Test, files: Readonly<Record<string, string>>): QuickSpecs {
  const root = t.testdir()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return new QuickSpecs(root)
}

test('a spec is quick when nothing that it imports, at any distance, can start anything', (t) => {
  const quick = project(t, {
    'spec/rule.spec.ts': "import { test } from 'tap'\nimport { rule } from '../engine/rule.ts'\n",
    'engine/rule.ts': "import { isIP } from 'node:net'\nimport type { Server } from 'node:http'\n",
    'spec/types.spec.ts': "import type { open } from '../engine/store.ts'\n",
    'spec/store.spec.ts': "import { test } from 'tap'\nimport { rows } from '../engine/rows.ts'\n",
    'engine/rows.ts': "import { store } from './store.ts'\n",
    'engine/store.ts': "import { open } from 'lmdb'\n",
    'spec/command.spec.ts': "import { spawn } from 'node:child_process'\n",
    'spec/thread.spec.ts': "import { share } from './share.ts'\n",
    'spec/share.ts': "const entry = new URL('entry.js', import.meta.url)\nimport './circle.ts'\n",
    'spec/circle.ts': "import './share.ts'\nexport { Worker } from 'node:worker_threads'\n",
  })
  const names = ['rule', 'types', 'store', 'command', 'thread']
  t.same(
    names.filter((name) => quick.isQuick(`spec/${name}.spec.ts`)),
    ['rule', 'types'],
  )
  t.end()
})

test('of the specs of this project', (t) => {
  const quick = new QuickSpecs('.')
  for (const name of ['engine/trees', 'planes/s3/requests/target', 'tidy', 'quick-specs']) {
    t.ok(quick.isQuick(`spec/${name}.spec.ts`), name)
  }
  for (const name of ['engine/engine', 'planes/s3/requests/http', 'cli/start', 'console/shell', 'engine/store-lock']) {
    t.notOk(quick.isQuick(`spec/${name}.spec.ts`), name)
  }
  t.end()
})
