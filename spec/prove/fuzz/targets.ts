import type { FuzzTarget } from './target.ts'
import { ANSWER_TARGETS } from './targets/answers.ts'
import { CHUNK_TARGETS } from './targets/chunks.ts'
import { CONFIGURATION_TARGETS } from './targets/configuration.ts'
import { DATE_TARGETS } from './targets/dates.ts'
import { ENTRY_TARGETS } from './targets/entries.ts'
import { EXTENSION_TARGETS } from './targets/extensions.ts'
import { FORM_TARGETS } from './targets/forms.ts'
import { HEADER_TARGETS } from './targets/headers.ts'
import { INTACT_TARGETS } from './targets/intact.ts'
import { JOURNAL_TARGETS } from './targets/journal.ts'
import { MANAGEMENT_TARGETS } from './targets/management.ts'
import { PAYLOAD_TARGETS } from './targets/payloads.ts'
import { POLICY_TARGETS } from './targets/policies.ts'
import { PROOF_TARGETS } from './targets/proofs.ts'
import { PARAMETER_TARGETS } from './targets/s3-parameters.ts'
import { SHARING_TARGETS } from './targets/sharing.ts'
import { SIGNATURE_TARGETS } from './targets/signatures.ts'
import { TOKEN_TARGETS } from './targets/tokens.ts'
import { URI_TARGETS } from './targets/uris.ts'
import { WITNESS_TARGETS } from './targets/witness.ts'
import { XML_TARGETS } from './targets/xml.ts'

/** Every reader of what comes from outside; the thread that fuzzes takes them in this order. */
export const TARGETS: readonly FuzzTarget[] = [
  ...JOURNAL_TARGETS,
  ...ENTRY_TARGETS,
  ...PAYLOAD_TARGETS,
  ...CONFIGURATION_TARGETS,
  ...DATE_TARGETS,
  ...URI_TARGETS,
  ...HEADER_TARGETS,
  ...PARAMETER_TARGETS,
  ...TOKEN_TARGETS,
  ...MANAGEMENT_TARGETS,
  ...SHARING_TARGETS,
  ...SIGNATURE_TARGETS,
  ...CHUNK_TARGETS,
  ...FORM_TARGETS,
  ...EXTENSION_TARGETS,
  ...POLICY_TARGETS,
  ...PROOF_TARGETS,
  ...WITNESS_TARGETS,
  ...INTACT_TARGETS,
  ...ANSWER_TARGETS,
  ...XML_TARGETS,
]
