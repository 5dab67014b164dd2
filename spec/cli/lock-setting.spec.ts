import { test } from 'tap'
import { lockSetting } from '../../cli/checkpoints/lock-setting.ts'
import { problemsOf, read } from './config-inputs.ts'

const whole = {
  OBJECT_STORE_CHECKPOINTS_LOCK: 's3://locks/of/stores',
  OBJECT_STORE_CHECKPOINTS_LOCK_ENDPOINT: 'https://s3.example.com',
  OBJECT_STORE_CHECKPOINTS_LOCK_ACCESS_KEY: 'AKEXAMPLE',
  OBJECT_STORE_CHECKPOINTS_LOCK_SECRET_KEY: 'a-secret-of-the-spec',
}

test('a lock is a prefix in a bucket, or a directory', async (t) => {
  t.same(lockSetting('s3://locks'), { kind: 's3', bucket: 'locks', prefix: '' })
  t.same(lockSetting('s3://locks/of/stores'), { kind: 's3', bucket: 'locks', prefix: 'of/stores/' })
  t.same(lockSetting('file:///mnt/other/locks/'), { kind: 'file', directory: '/mnt/other/locks' })
  const others = ['locks', 's3://', 's3://l', 's3://UPPER/x', 's3://locks/', 's3://locks/../x', 's3://locks/a//b']
  for (const text of [...others, 's3://locks/a b', 's3://locks/a?b', 'file://host/x', 'file:relative', 'https://x/']) {
    t.equal(lockSetting(text), undefined, text)
  }
})

test('a lock has all that it needs, and is not rolled back with the data', async (t) => {
  const { config } = read({ environment: whole })
  t.equal(config['checkpoints.lock'], 's3://locks/of/stores')
  t.equal(config['checkpoints.lock_region'], 'us-east-1')
  const problems = (changed: Readonly<Record<string, string | undefined>>) => {
    const environment = Object.fromEntries(
      Object.entries({ ...whole, ...changed }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
    return problemsOf({ environment }).join('\n')
  }
  const cases: readonly (readonly [Readonly<Record<string, string | undefined>>, RegExp])[] = [
    [{ OBJECT_STORE_CHECKPOINTS_LOCK: 'locks' }, /must be s3:\/\/BUCKET/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK_ENDPOINT: undefined }, /address of the store of the lock is missing/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK_ENDPOINT: 'http://s3.example.com' }, /must be https/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK_ENDPOINT: 'https://s3.example.com/path' }, /must have no path/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK_ACCESS_KEY: undefined }, /access key or the secret key/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK_SECRET_KEY: undefined }, /access key or the secret key/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK: `file://${config.data_dir}/locks` }, /inside the data directory/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK: `file://${config.data_dir}` }, /inside the data directory/],
    [{ OBJECT_STORE_CHECKPOINTS_LOCK: `file:///x/../${config.data_dir}/y` }, /inside the data directory/],
  ]
  for (const [changed, says] of cases) {
    const text = problems(changed)
    t.match(text, says)
    t.notMatch(text, /a-secret-of-the-spec/)
  }
  const besides = { ...whole, OBJECT_STORE_CHECKPOINTS_LOCK: `file://${config.data_dir}-locks` }
  t.match(read({ environment: besides }).config['checkpoints.lock'], /-locks$/)
})
