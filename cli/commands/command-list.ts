import type { CommandClass } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { routeCommands } from '../client/route-commands.ts'
import { AccessAdoptCommand } from '../access/adopt.ts'
import { AuditChainCommand } from './audit/chain.ts'
import { AuditExportCommand } from './audit/export.ts'
import { AuditQueryCommand } from './audit/query.ts'
import { BackupCommand } from '../backup/create-command.ts'
import { BackupVerifyCommand } from '../backup/verify-command.ts'
import {
  CheckpointConsistencyCommand,
  CheckpointHandoversCommand,
  CheckpointKeyCommand,
  CheckpointProveCommand,
  CheckpointShowCommand,
  CheckpointWitnessKeyCommand,
} from '../checkpoints/checkpoint-text.ts'
import { CheckpointAbsenceCommand } from '../checkpoints/absence.ts'
import { CheckpointExportCommand } from '../checkpoints/export.ts'
import { CheckpointTimestampCommand } from '../checkpoints/timestamp.ts'
import { CheckpointVerifyCommand } from '../checkpoints/verify.ts'
import { CompletionCommand } from './completion.ts'
import { ConfigShowCommand } from './config/show.ts'
import { EventsFollowCommand } from '../events/follow.ts'
import { EventsListCommand } from '../events/list.ts'
import { HelpCommand } from './help.ts'
import { JournalShowCommand } from './journal/show.ts'
import { JournalVerifyCommand } from './journal/verify.ts'
import { KeyRotateCommand } from './key/rotate.ts'
import { ObjectGetCommand } from './object/get.ts'
import { ObjectPutCommand } from './object/put.ts'
import { PolicyCreateCommand } from '../access/create-policy.ts'
import { PolicyReplaceCommand } from '../access/replace-policy.ts'
import { ProjectionsCheckCommand } from './projections/check.ts'
import { ProjectionsRebuildCommand } from './projections/rebuild.ts'
import { ProofCreateCommand } from '../proof/create.ts'
import { ProofPageCommand } from '../proof/page.ts'
import { ProofPublicKeyCommand } from '../proof/public-key.ts'
import { ProofVerifyCommand } from '../proof/verify.ts'
import { QuickstartCommand } from './quickstart.ts'
import { QuotaSetCommand } from './quota/set.ts'
import { RestoreCommand } from '../backup/restore-command.ts'
import { RootRotateCommand } from './root/rotate.ts'
import { ServerCommand } from './server.ts'
import { ServerDoctorCommand } from './server/doctor.ts'
import { ShareCreateCommand } from '../links/create-share.ts'
import { StatusCommand } from './status.ts'
import { VerifyBucketCommand } from './verify/bucket.ts'
import { VersionCommand } from './version.ts'

/** Every command. */
export const commandList: readonly CommandClass<CliContext>[] = [
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
  ProjectionsCheckCommand,
  AccessAdoptCommand,
  KeyRotateCommand,
  RootRotateCommand,
  BackupCommand,
  BackupVerifyCommand,
  RestoreCommand,
  AuditQueryCommand,
  AuditChainCommand,
  AuditExportCommand,
  EventsListCommand,
  EventsFollowCommand,
  ProofCreateCommand,
  ProofVerifyCommand,
  ProofPublicKeyCommand,
  ProofPageCommand,
  CheckpointShowCommand,
  CheckpointKeyCommand,
  CheckpointWitnessKeyCommand,
  CheckpointHandoversCommand,
  CheckpointProveCommand,
  CheckpointConsistencyCommand,
  CheckpointVerifyCommand,
  CheckpointTimestampCommand,
  CheckpointExportCommand,
  CheckpointAbsenceCommand,
  ObjectPutCommand,
  ObjectGetCommand,
  PolicyCreateCommand,
  PolicyReplaceCommand,
  QuotaSetCommand,
  VerifyBucketCommand,
  ShareCreateCommand,
  ...routeCommands,
]
