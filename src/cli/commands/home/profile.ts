import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Profile } from '../../../profiles/index.ts'
import { escapeName } from '../../../text/index.ts'
import { resolveHomePath } from '../../access/home-access.ts'
import { findPassedVariables, readProfiles } from '../../access/profile-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { formatTable } from '../../render/table.ts'

const list: Command = defineCommand(
  {
    name: 'profile list',
    summary: 'List the profiles for programs',
    details: `A profile says what a program needs to work in a session: paths of your home, variables, hosts.
Your own are TOML files in profiles/ of the Coppice home; one with the name of a built-in profile replaces it.`,
    scope: 'home',
    examples: ['coppice profile list', 'coppice profile list --json'],
  },
  async (call) => {
    const profiles = readProfiles(await resolveHomePath(call)).list()
    const rows = profiles.map(({ name, programs, isBuiltIn, summary }) => [
      name,
      programs.length === 0 ? '-' : programs.join(', '),
      isBuiltIn ? 'built in' : 'yours',
      escapeName(summary),
    ])
    await call.output.writeValue(
      profiles,
      formatTable([['name', 'programs', 'from', ''], ...rows]).join('\n'),
    )
  },
)

const show: Command = defineCommand(
  {
    name: 'profile show',
    summary: 'Show what a profile gives to a program',
    scope: 'home',
    arguments: { name: { summary: 'The profile' } },
    examples: ['coppice profile show claude', 'coppice profile show git --json'],
  },
  async (call) => {
    const profile = readProfiles(await resolveHomePath(call)).get(call.argument('name'))
    await call.output.writeValue(profile, formatTable(toRows(profile)).join('\n'))
  },
)

const check: Command = defineCommand(
  {
    name: 'profile check',
    summary: 'Check profiles, and what they find here',
    details: `Says which paths exist, which variables are set and which hosts are allowed; nothing is run.
Exits with 1 if a file is invalid, and lists its mistakes by line with the allowed values. Exits with 1, too, if a
path leads out of your home directory or into the Coppice home, and says so beside the path.`,
    scope: 'home',
    arguments: { name: { summary: 'The profile; all of them when absent', isOptional: true } },
    examples: ['coppice profile check', 'coppice profile check claude --json'],
  },
  async (call) => {
    const home = await resolveHomePath(call)
    const store = readProfiles(home)
    const name = call.optionalArgument('name')
    const profiles = name === undefined ? store.list() : [store.get(name)]
    const { findVisibilityProblem } = await import('../../../workspace/index.ts')
    const userHome = realpathSync(homedir())
    const findings = profiles.map((profile) => ({
      name: profile.name,
      file: profile.file,
      paths: profile.paths.map(({ path, mode }) => ({
        path,
        mode,
        exists: existsSync(join(userHome, path)),
        problem: findVisibilityProblem(join(userHome, path), userHome, [home]) ?? null,
      })),
      variables: findPassedVariables([profile]),
      hosts: profile.hosts,
    }))
    await call.output.writeValue(findings, findings.map(formatFinding).join('\n\n'))
    return findings.some(({ paths }) => paths.some(({ problem }) => problem !== null)) ? 1 : 0
  },
)

export const profile: CommandGroup = {
  name: 'profile',
  summary: 'List, show and check profiles for programs',
  commands: [list, show, check],
}

function toRows({
  name,
  file,
  isBuiltIn,
  summary,
  programs,
  args,
  paths,
  env,
  sockets,
  hosts,
  mask,
}: Profile): string[][] {
  const joinValues = (values: readonly string[]) => (values.length === 0 ? '-' : values.join(', '))
  return [
    ['name', name],
    ['summary', escapeName(summary)],
    ['file', `${escapeName(file)}${isBuiltIn ? ' (built in)' : ''}`],
    ['programs', joinValues(programs)],
    ...(args.length === 0 ? [] : [['arguments', escapeName(args.join(' '))]]),
    ...paths.map(({ path, mode, isDirectory }, index) => [
      index === 0 ? 'paths' : '',
      `${mode.padEnd(6)}${escapeName(`~/${path}`)}${isDirectory ? '/' : ''}`,
    ]),
    ['variables', joinValues(env)],
    ['sockets', joinValues(sockets)],
    ['hosts', joinValues(hosts)],
    ['mask', mask ? 'on' : 'off'],
  ]
}

interface ProfileFinding {
  readonly name: string
  readonly paths: readonly {
    readonly path: string
    readonly mode: string
    readonly exists: boolean
    readonly problem: string | null
  }[]
  readonly variables: readonly string[]
  readonly hosts: readonly string[]
}

function formatFinding({ name, paths, variables, hosts }: ProfileFinding): string {
  const rows = paths.map(({ path, mode, exists, problem }) => [
    mode,
    escapeName(`~/${path}`),
    problem === null ? (exists ? 'there' : 'missing') : escapeName(problem),
  ])
  const lines = formatTable([
    ...rows,
    ['variables set', variables.length === 0 ? '-' : variables.join(', ')],
    ['hosts', hosts.length === 0 ? '-' : hosts.join(', ')],
  ])
  return [name, ...lines.map((line) => `  ${line}`)].join('\n')
}
