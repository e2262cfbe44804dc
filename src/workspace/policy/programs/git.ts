import { UNKNOWN } from '../shell/unknown.ts'
import { gitCommands } from './git-commands.ts'
import { gitOptions } from './git-options.ts'
import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createUnseenFindings,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
} from './program.ts'

const GLOBAL_VALUES = toOptionSet(
  '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source --shallow-file',
)
/** Options of commands whose value is words, patterns or revisions, not a file. */
const TEXT_VALUES = toOptionSet(
  '-m --message --author --committer --date --since --until --after --before --grep -S -G -L --format --pretty -n --max-count -s --strategy -X --trailer -u --set-upstream-to -x --exec --extcmd --sort --points-at',
)
/** Git: the effect of its command, with all that its options and settings make it run. */
const git: ProgramClassifier = ({ args }) => {
  const { options, rest } = parseArguments(args, GLOBAL_VALUES)
  const before = args.slice(0, args.length - rest.length)
  const settings = [
    ...(options.get('-c') ?? []).slice(0, countOption(before, '-c')).map(parseSetting),
    // The value comes from a variable that is unknown here.
    ...(options.get('--config-env') ?? []).map(
      (setting): NestedCommand => ({ ...parseSetting(setting), value: UNKNOWN }),
    ),
  ]
  const [name, ...own] = rest
  const sorted = parseArguments(own, TEXT_VALUES)
  const paths = [...before, ...filterPaths(own)]
  if (name === undefined)
    return gitOptions.checkOptions('git', before, { ...createEffect('read_only'), paths })
  if (name.includes(UNKNOWN)) return { findings: createUnseenFindings('a command of git'), paths }
  const commandEffect =
    gitCommands[name]?.(sorted, own) ??
    createEffect('mutating', `runs 'git ${name}', which is not known to policy`)
  const effect = gitOptions.checkOptions('git', before, gitOptions.checkOptions(name, own, commandEffect))
  return {
    findings: [
      ...effect.findings,
      ...(settings.length > 0 ? [createFinding('mutating', 'changes settings of git for this call')] : []),
      ...(name === 'grep' && hasOption(sorted, '-O --open-files-in-pager')
        ? [createFinding('interactive')]
        : []),
    ],
    runs: [...settings, ...(effect.runs ?? []), ...findNamedPrograms(name, sorted)],
    paths: effect.paths === undefined ? paths : [...before, ...effect.paths],
  }
}

/** Parses `-c name=value`, which is classified by the command that the name makes git run. */
function parseSetting(setting: string): { readonly setting: string; readonly value: string } {
  const equals = setting.indexOf('=')
  return {
    setting: equals === -1 ? setting : setting.slice(0, equals),
    value: equals === -1 ? '' : setting.slice(equals + 1),
  }
}

function countOption(words: readonly string[], option: string): number {
  return words.filter((word) => word.startsWith(option) && !word.startsWith('--')).length
}

/** Removes the values that are text, and not a file, from the arguments. */
function filterPaths(args: readonly string[]): string[] {
  return args.filter((arg, index) => {
    const before = args[index - 1] ?? ''
    if (TEXT_VALUES.has(before) || /^-[a-zA-Z]*m$/.test(before)) return false
    return !/^(?:-[SGLm].|--(?:message|author|date|since|until|after|before|grep|format|pretty|trailer)=)/.test(
      arg,
    )
  })
}

/** Finds the programs that options name: the pager of `grep`, or the other side of a transfer. */
function findNamedPrograms(
  name: string,
  { options }: { readonly options: ReadonlyMap<string, readonly string[]> },
): NestedCommand[] {
  if (name === 'grep') {
    const pagers = [...options.keys()].flatMap((option) => option.match(/^-O(.+)$/)?.[1] ?? [])
    return [...pagers, ...(options.get('--open-files-in-pager') ?? [])].map((shell) => ({ shell }))
  }
  return getValues({ operands: [], rest: [], options }, '--upload-pack --receive-pack --exec').map(
    (shell) => ({ shell }),
  )
}

export const versionControl: ProgramTable = {
  ...createAliases('git', git),
  ...createAliases('gh glab hub', () => ({
    findings: [createFinding('networked'), createFinding('mutating')],
  })),
  ...createAliases('hg svn bzr cvs p4 jj', ({ args }) => {
    const [name = ''] = parseArguments(args).operands
    if (
      /^(?:push|pull|clone|fetch|incoming|outgoing|in|out|commit|ci|checkout|co|update|up|sync|git|switch)$/.test(
        name,
      )
    ) {
      return { findings: [createFinding('networked'), createFinding('mutating')] }
    }
    return /^(?:status|st|diff|log|show|annotate|blame|info|cat|summary)$/.test(name)
      ? createEffect('read_only')
      : createEffect('mutating')
  }),
}
