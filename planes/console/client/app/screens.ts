import type { ComponentChild } from 'preact'
import { ADMINISTRATOR, SYSTEM_AND_AUDITOR } from '../api/access-roles.ts'
import { EVERYONE, type Role } from '../api/session.ts'
import { AccountScreen } from '../screens/access/account.tsx'
import { AccountsScreen } from '../screens/access/accounts.tsx'
import { PoliciesScreen } from '../screens/access/policies.tsx'
import { NewPolicyScreen, PolicyScreen } from '../screens/access/policy.tsx'
import { TokensScreen } from '../screens/access/tokens.tsx'
import { AuditScreen } from '../screens/audit/audit.tsx'
import { BundleScreen } from '../screens/evidence/bundle.tsx'
import { ChainScreen } from '../screens/evidence/chain.tsx'
import { RetentionScreen } from '../screens/evidence/retention.tsx'
import { VerifyScreen } from '../screens/evidence/verify.tsx'
import { OverviewScreen } from '../screens/overview/overview.tsx'
import { BucketScreen } from '../screens/buckets/bucket.tsx'
import { BucketsScreen } from '../screens/buckets/buckets.tsx'
import { WebhooksScreen } from '../screens/buckets/webhooks.tsx'
import { ObjectsScreen } from '../screens/objects/objects.tsx'
import type { ScreenProps } from './screen-props.ts'

export interface Screen {
  /** The address after `#/`. */
  readonly pattern: string
  /** Of the window, and of the link in the menu. */
  readonly title: string
  /** Whether the menu has a link to it. Other screens are reached from these. */
  readonly inMenu: boolean
  /** Roles that may see it; for others it does not exist. */
  readonly roles: readonly Role[]
  readonly view: (props: ScreenProps) => ComponentChild
}

/** Every screen, in the order of the menu. The console opens with the first. */
export const screens: readonly Screen[] = [
  { pattern: 'overview', title: 'Overview', inMenu: true, roles: EVERYONE, view: OverviewScreen },
  { pattern: 'buckets', title: 'Buckets', inMenu: true, roles: EVERYONE, view: BucketsScreen },
  { pattern: 'buckets/:bucket', title: 'Bucket', inMenu: false, roles: EVERYONE, view: BucketScreen },
  { pattern: 'buckets/:bucket/objects', title: 'Objects', inMenu: false, roles: EVERYONE, view: ObjectsScreen },
  { pattern: 'webhooks', title: 'Webhooks', inMenu: true, roles: EVERYONE, view: WebhooksScreen },
  { pattern: 'access', title: 'Access', inMenu: true, roles: SYSTEM_AND_AUDITOR, view: AccountsScreen },
  {
    pattern: 'access/accounts/:account',
    title: 'Account',
    inMenu: false,
    roles: SYSTEM_AND_AUDITOR,
    view: AccountScreen,
  },
  { pattern: 'access/policies', title: 'Policies', inMenu: false, roles: SYSTEM_AND_AUDITOR, view: PoliciesScreen },
  { pattern: 'access/policies/new', title: 'New policy', inMenu: false, roles: ADMINISTRATOR, view: NewPolicyScreen },
  { pattern: 'access/policies/:policy', title: 'Policy', inMenu: false, roles: SYSTEM_AND_AUDITOR, view: PolicyScreen },
  { pattern: 'access/tokens', title: 'Tokens', inMenu: false, roles: ADMINISTRATOR, view: TokensScreen },
  { pattern: 'audit', title: 'Audit', inMenu: true, roles: EVERYONE, view: AuditScreen },
  { pattern: 'evidence', title: 'Evidence', inMenu: true, roles: EVERYONE, view: ChainScreen },
  { pattern: 'evidence/retention', title: 'Retention', inMenu: false, roles: EVERYONE, view: RetentionScreen },
  { pattern: 'evidence/bundle', title: 'Proof bundle', inMenu: false, roles: EVERYONE, view: BundleScreen },
  { pattern: 'evidence/verify', title: 'Verify a file', inMenu: false, roles: EVERYONE, view: VerifyScreen },
]
