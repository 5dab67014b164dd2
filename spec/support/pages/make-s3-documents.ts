/** Writes the pages of spec/manual/s3 anew after a change of the tables: `node build/spec/support/pages/make-s3-documents.js`. */
import { writeFileSync } from 'node:fs'
import { S3_DOCUMENTS } from './s3-documents.ts'

for (const { path, text } of S3_DOCUMENTS) writeFileSync(path, text())
