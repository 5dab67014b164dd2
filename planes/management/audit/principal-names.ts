import type { AuditPart } from '../../../engine/events/audit.ts'
import type { AccessReader } from '../../../projections/access/reader.ts'

const ACCOUNT = 'service_account:'

/** The names of the principals of one answer, each looked up once. */
export class PrincipalNames {
  readonly #access: AccessReader
  readonly #known = new Map<string, string | null>()

  constructor(access: AccessReader) {
    access.version()
    this.#access = access
  }

  /**
   * The name of the service account, or of the management token, that a record is by; the last one if it is deleted. Null
   * for a principal without a name: the root credential, the system token, a part of the store, a stranger.
   */
  of({ principal, credentialId }: Pick<AuditPart, 'principal' | 'credentialId'>): string | null {
    const id = principal.startsWith(ACCOUNT) ? principal.slice(ACCOUNT.length) : credentialId
    if (id === undefined) return null
    let name = this.#known.get(id)
    if (name === undefined) {
      name = this.#access.nameOf(id) ?? null
      this.#known.set(id, name)
    }
    return name
  }
}
