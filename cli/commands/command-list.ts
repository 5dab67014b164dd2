import type { CommandClass } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { features } from '../features.ts'
import { routeCommands } from '../client/route-commands.ts'
import { AuditChainCommand } from './audit/chain.ts'
import { AuditExportCommand } from './audit/export.ts'
import { AuditQueryCommand } from './audit/query.ts'
import { CompletionCommand } from './completion.ts'
import { ConfigShowCommand } from './config/show.ts'
import { HelpCommand } from './help.ts'
import { JournalShowCommand } from './journal/show.ts'
import { JournalVerifyCommand } from './journal/verify.ts'
import { KeyRotateCommand } from './key/rotate.ts'
import { ObjectGetCommand } from './object/get.ts'
import { ObjectPutCommand } from './object/put.ts'
import { withCommands } from './placed-commands.ts'
import { ProjectionsCheckCommand } from './projections/check.ts'
import { ProjectionsPrepareCommand } from './projections/prepare.ts'
import { ProjectionsRebuildCommand } from './projections/rebuild.ts'
import { QuickstartCommand } from './quickstart.ts'
import { QuotaSetCommand } from './quota/set.ts'
import { RootRotateCommand } from './root/rotate.ts'
import { ServerCommand } from './server.ts'
import { ServerDoctorCommand } from './server/doctor.ts'
import { StatusCommand } from './status.ts'
import { VerifyBucketCommand } from './verify/bucket.ts'
import { VersionCommand } from './version.ts'

const SPINE: readonly CommandClass<CliContext>[] = [
  HelpCommand,
  VersionCommand,
  CompletionCommand,
  QuickstartCommand,
  ServerCommand,
  ServerDoctorCommand,
  StatusCommand,
  ConfigShowCommand,
  JournalVerifyCommand,
  JournalShowCommand,
  ProjectionsRebuildCommand,
  ProjectionsPrepareCommand,
  ProjectionsCheckCommand,
  KeyRotateCommand,
  RootRotateCommand,
  AuditQueryCommand,
  AuditChainCommand,
  AuditExportCommand,
  ObjectPutCommand,
  ObjectGetCommand,
  QuotaSetCommand,
  VerifyBucketCommand,
]

/** Every command. */
export const commandList: readonly CommandClass<CliContext>[] = [
  ...withCommands(
    SPINE,
    features.flatMap(({ commands }) => commands),
  ),
  ...routeCommands,
]
