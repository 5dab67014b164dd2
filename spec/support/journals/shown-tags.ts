/** Changes of tags, as they are stored and as `journal show` shows them. */
const KEY = { bucket_id: 2, key: 'k' }

export const SHOWN_TAGS: readonly (readonly [stored: readonly unknown[], shown: Record<string, unknown>])[] = [
  [
    [82, 2, 'k', 40, false, 5, ['team', 'a b']],
    { kind: 'version.tagged', ...KEY, version: 40, null: false, size: 5, tags: { team: 'a b' } },
  ],
  [[83, 2, 'k', 50, ['team', 'a']], { kind: 'upload.tagged', ...KEY, upload: 50, tags: { team: 'a' } }],
  [[84, 2, 'b', []], { kind: 'bucket.tagged', bucket_id: 2, name: 'b', tags: {} }],
  [
    [85, 2, 'b', '{}', ['acc-1']],
    { kind: 'bucket-policy.set', bucket_id: 2, name: 'b', document: '{}', accounts: ['acc-1'] },
  ],
]
