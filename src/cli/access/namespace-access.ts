import { homedir } from 'node:os'
import { readConfig } from '../../config/index.ts'
import type { Namespace, NamespaceOptions, Zones } from '../../namespace/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { createAgentEnvironment, createAgentMask, createRedactor } from './command-environment.ts'
import { withDamageReport } from './damaged-store.ts'
import { listDefaultVaults } from './default-vaults.ts'
import { createMissingHomeError } from './hidden-home.ts'
import { getUserName, isHomeMissing, listKnownHomes, resolveHomePath, withHome } from './home-access.ts'

/** Context of a user without a name in the account database, as in some containers. */
const DEFAULT_CONTEXT = 'agent'

/** Options of a namespace that a command sets. */
export type NamespaceChoices = Omit<NamespaceOptions, 'home' | 'config' | 'context'>

/** Opens the namespace of the command's context, and closes it when the work ends or fails. */
export async function withNamespace<Result>(
  call: CommandInvocation<'context'>,
  choices: NamespaceChoices,
  work: (namespace: Namespace) => Promise<Result>,
): Promise<Result> {
  // Loaded on use: help and completion do not need it.
  const { openNamespace } = await import('../../namespace/index.ts')
  const context = call.option('context') ?? resolveContextName()
  const home = await resolveHomePath(call)
  const config = await readConfig(home)
  const redactor = createRedactor(config)
  const mask = createAgentMask(config)
  const commands = { env: createAgentEnvironment(), userHome: homedir(), redactor, mask }
  return withDamageReport(home, async () => {
    await using namespace = await openNamespace({
      commands,
      mask,
      closed: listKnownHomes(home),
      ...choices,
      home,
      context,
    })
    return await work(namespace)
  })
}

/** Opens the zones of the home without a context. CommandError if there is no home, unless `create` is set. */
export async function withZones<Result>(
  call: CommandInvocation,
  work: (zones: Zones) => Promise<Result>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Result> {
  const home = await resolveHomePath(call)
  if (!create && isHomeMissing(home)) {
    throw createMissingHomeError(call, home, 'create one with: coppice context create <name>')
  }
  const { openZones } = await import('../../namespace/index.ts')
  await using zones = await openZones({ home })
  return await work(zones)
}

/** Returns the name of the vault that is named, current, or the only one; undefined if there are none or several. */
export async function resolveWorkspaceVault(call: CommandInvocation): Promise<string | undefined> {
  const path = await resolveHomePath(call)
  const { vault, vfs } = await readConfig(path)
  const named = call.option('vault') ?? vault
  // Zones in plain files need no store, and looking for vaults must not create one.
  if (named !== undefined || vfs?.backend === 'local' || isHomeMissing(path)) return named
  const [only, ...others] = await withHome(call, ({ home }) => listDefaultVaults(home))
  return others.length === 0 ? only : undefined
}

/**
 * Returns the default context: that of `COPPICE_CONTEXT`, else the user name without characters a context cannot
 * have.
 */
export function resolveContextName(): string {
  const user = getUserName()
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .replace(/^-+/, '')
  return process.env['COPPICE_CONTEXT'] || user || DEFAULT_CONTEXT
}
