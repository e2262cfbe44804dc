import { homedir } from 'node:os'
import { readConfig } from '../server/config/index.ts'
import type { Namespace, NamespaceOptions, Zones } from '../server/index.ts'
import type { Call } from './call.ts'
import { agentEnvironment, ownRedactor } from './command-environment.ts'
import { namingStore } from './damaged-store.ts'
import { CommandError } from './errors.ts'
import { homePath, isNoHome, knownHomes, ownVaults, userName, withHome } from './home-access.ts'

/** A context for a user whose name is none. */
const SOMEBODY = 'agent'

/** What a command decides of the namespace it opens. */
export type NamespaceChoices = Omit<NamespaceOptions, 'home' | 'config' | 'context'>

/** Opens the namespace of the context a command is about, and closes it when the work is done or has failed. */
export async function withNamespace<Result>(
  call: Call<'context'>,
  choices: NamespaceChoices,
  work: (namespace: Namespace) => Promise<Result>,
): Promise<Result> {
  // Loaded here and not above: help and completion do without it.
  const { openNamespace } = await import('../server/index.ts')
  const context = call.text('context') ?? contextName()
  const home = homePath(call)
  const redactor = ownRedactor(await readConfig(home))
  const commands = { env: agentEnvironment(), userHome: homedir(), redactor }
  return namingStore(home, async () => {
    await using namespace = await openNamespace({
      commands,
      closed: knownHomes(home),
      ...choices,
      home,
      context,
    })
    return await work(namespace)
  })
}

/** Opens the zones of the home, with nobody at work in them. CommandError if there is no home, unless it may be made. */
export async function withZones<Result>(
  call: Call,
  work: (zones: Zones) => Promise<Result>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Result> {
  const home = homePath(call)
  if (!create && (await isNoHome(home))) {
    throw new CommandError(`there is no home in ${home}; make one with: coppice context create <name>`)
  }
  const { openZones } = await import('../server/index.ts')
  await using zones = await openZones({ home })
  return await work(zones)
}

/** The vault to work in: the one that is named, or chosen, or the only one; none if that is not clear. */
export async function workspaceVault(call: Call): Promise<string | undefined> {
  const path = homePath(call)
  const { vault, vfs } = await readConfig(path)
  const named = call.text('vault') ?? vault
  // Zones that are plain files need no store, and none is made to look for vaults in it.
  if (named !== undefined || vfs?.backend === 'local' || (await isNoHome(path))) return named
  const [only, ...others] = await withHome(call, async ({ home }) => ownVaults(await home.vaults()))
  return others.length === 0 ? only : undefined
}

/** Who is at work if nobody is named: the context of the environment, else the user. */
export function contextName(): string {
  const user = userName()
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .replace(/^-+/, '')
  return process.env['COPPICE_CONTEXT'] || user || SOMEBODY
}
