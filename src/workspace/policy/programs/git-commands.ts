import { gitOptions } from './git-options.ts'
import { type Arguments, getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import { createEffect, createFinding, type ProgramEffect, READS } from './program.ts'

/** Classifies a command of git by its parsed and its original arguments. */
type GitCommand = (sorted: Arguments, args: readonly string[]) => ProgramEffect

const CHANGES = createEffect('mutating', 'changes the repository')
const LOSES = createEffect('destructive', 'deletes changes or history')
const REACHES: ProgramEffect = {
  findings: [createFinding('networked'), createFinding('mutating', 'changes the repository')],
}
const ASKS: ProgramEffect = {
  findings: [createFinding('interactive'), createFinding('mutating', 'changes the repository')],
}

const OUTSIDE = createEffect('host_escape_risk', 'uses or changes files of git outside the workspace')

const reads: GitCommand = () => READS
const changes: GitCommand = (sorted) =>
  hasOption(sorted, '-i --interactive -p --patch -e --edit') ? ASKS : CHANGES
const reaches: GitCommand = () => REACHES

/** Lists without operands, changes with them; some options list, change or delete. */
const listsOrChanges: GitCommand = (sorted) => {
  if (hasOption(sorted, '-d -D --delete --prune -f --force')) return LOSES
  if (hasOption(sorted, '-m -M --move -c -C --copy')) return CHANGES
  if (hasOption(sorted, '-l --list --contains --merged --no-merged --points-at')) return READS
  const isSetting = hasOption(sorted, '-u --set-upstream-to --unset-upstream --edit-description -s --sign')
  return sorted.operands.length === 0 && !isSetting ? READS : CHANGES
}

const push: GitCommand = (sorted) =>
  hasOption(sorted, '-f --force --force-with-lease -d --delete --mirror --prune')
    ? {
        findings: [
          createFinding('networked'),
          createFinding('destructive', 'deletes history of a remote repository'),
        ],
      }
    : { findings: [createFinding('networked')] }

const checkout: GitCommand = (sorted, args) => {
  const isDiscarding =
    args.includes('--') || sorted.operands.includes('.') || hasOption(sorted, '-f --force --discard-changes')
  return isDiscarding ? LOSES : changes(sorted, args)
}

const restore: GitCommand = (sorted) =>
  hasOption(sorted, '-S --staged') && !hasOption(sorted, '-W --worktree') ? CHANGES : LOSES

/** Creates a family such as `git stash drop`, classified by its second word. */
function createFamily(lossy: RegExp, reading: RegExp, networked?: RegExp): GitCommand {
  return ({ operands: [verb = ''] }) => {
    if (networked?.test(verb)) return REACHES
    if (lossy.test(verb)) return LOSES
    return reading.test(verb) ? READS : CHANGES
  }
}

const NEVER = /^\b$/

const CONFIG_VALUES = toOptionSet('-f --file --blob -t --type --default --comment --value --url')

const config: GitCommand = (_sorted, args) => {
  const sorted = parseArguments(args, CONFIG_VALUES)
  const isReading =
    hasOption(sorted, '--get --get-all --get-regexp --get-urlmatch -l --list') ||
    /^(?:get|list)$/.test(sorted.operands[0] ?? '') ||
    (sorted.operands.length < 2 && sorted.operands[0] !== 'edit')
  if (isReading && gitOptions.hasOnlyKnown('config', args)) return READS
  const isOutside = hasOption(sorted, '--global --system')
  const [setting = '', value = ''] = sorted.operands[0] === 'set' ? sorted.operands.slice(1) : sorted.operands
  return {
    findings: [
      createFinding('mutating'),
      ...(isOutside ? [createFinding('host_escape_risk', 'changes settings outside the workspace')] : []),
    ],
    runs: [{ setting, value }],
    paths: args.filter((arg) => arg !== value),
  }
}

const rebase: GitCommand = (sorted, args) => {
  const runs = getValues(sorted, '-x --exec').map((shell) => ({ shell }))
  return { ...changes(sorted, args), runs }
}

/** The rest of the line is a command: `git bisect run make`, `git submodule foreach 'make'`. */
function createRunner(verb: string, otherwise: GitCommand): GitCommand {
  return (sorted, args) => {
    const start = args.indexOf(verb)
    if (start === -1) return otherwise(sorted, args)
    const command = args.slice(start + 1).filter((arg) => arg !== '--recursive' && arg !== '--quiet')
    // Git passes a first word with spaces to a shell as well.
    const isLine = command.length === 1 || /\s/.test(command[0] ?? '')
    return { ...CHANGES, runs: isLine ? [{ shell: command.join(' ') }] : [{ argv: command }] }
  }
}

const filterBranch: GitCommand = (_sorted, args) => ({
  ...LOSES,
  runs: args.flatMap((arg, index) =>
    /^--[a-z-]+-filter$/.test(args[index - 1] ?? '') ? [{ shell: arg }] : [],
  ),
})

const difftool: GitCommand = (sorted) => ({
  ...ASKS,
  runs: getValues(sorted, '-x --extcmd').map((shell) => ({ shell })),
})

function createCommands(names: string, command: GitCommand): Readonly<Record<string, GitCommand>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, command]))
}

/** Every command of git that policy knows. */
export const gitCommands: Readonly<Record<string, GitCommand>> = {
  ...createCommands(
    'status shortlog show-ref rev-parse rev-list describe ls-files ls-tree name-rev for-each-ref merge-base cherry count-objects verify-commit verify-tag var version check-ignore check-attr show-branch stripspace fmt-merge-msg get-tar-commit-id diff show log whatchanged range-diff diff-tree diff-index diff-files cat-file grep blame annotate fsck hash-object',
    reads,
  ),
  help: (sorted) => (hasOption(sorted, '-w --web') ? REACHES : READS),
  ...createCommands(
    'add commit merge cherry-pick revert am mv init update-index write-tree commit-tree read-tree update-ref switch gc repack pack-refs format-patch replace mktag mktree unpack-objects',
    changes,
  ),
  ...createCommands(
    'fetch pull clone ls-remote send-email request-pull svn p4 lfs fetch-pack send-pack http-fetch http-push daemon instaweb imap-send remote-ext remote-fd remote-http remote-https remote-ftp remote-ftps cvsimport archimport backfill for-each-repo web--browse',
    reaches,
  ),
  ...createCommands('reset', (sorted) => (hasOption(sorted, '--soft --mixed') ? CHANGES : LOSES)),
  // A later option may cancel a dry run: it only counts if all options are known.
  ...createCommands('clean rm prune', (sorted, args) =>
    hasOption(sorted, '-n --dry-run') && gitOptions.hasOnlyKnown('clean', args) ? READS : LOSES,
  ),
  ...createCommands('branch tag', listsOrChanges),
  push,
  checkout,
  restore,
  config,
  rebase,
  difftool,
  mergetool: () => ASKS,
  'filter-branch': filterBranch,
  'filter-repo': () => LOSES,
  archive: (sorted) => (hasOption(sorted, '--remote') ? REACHES : READS),
  maintenance: (sorted, args) => {
    if (/^(?:start|stop|register|unregister)$/.test(sorted.operands[0] ?? '')) return OUTSIDE
    return args.some((arg) => /(?:^|=)prefetch$/.test(arg)) ? REACHES : CHANGES
  },
  ...createCommands('credential credential-store credential-cache', () => OUTSIDE),
  apply: (sorted, args) =>
    hasOption(sorted, '--check --stat --numstat --summary') ? READS : changes(sorted, args),
  'symbolic-ref': (sorted) => (sorted.operands.length < 2 ? READS : CHANGES),
  notes: createFamily(/^(?:remove|prune)$/, /^(?:list|show|get-ref)?$/),
  bundle: createFamily(NEVER, /^(?:verify|list-heads)$/),
  rerere: createFamily(/^(?:clear|forget)$/, /^(?:status|diff|remaining)$/),
  'sparse-checkout': createFamily(NEVER, /^list$/),
  stash: createFamily(/^(?:drop|clear)$/, /^(?:list|show)$/),
  reflog: createFamily(/^(?:expire|delete)$/, /^(?:show|exists|list)?$/),
  worktree: createFamily(/^(?:remove|prune)$/, /^list$/),
  remote: (sorted, args) =>
    hasOption(sorted, '-f --fetch -a --auto')
      ? REACHES
      : sorted.operands.join(' ') === 'show'
        ? READS
        : createFamily(/^(?:remove|rm)$/, /^(?:get-url)?$/, /^(?:update|show|prune)$/)(sorted, args),
  bisect: createRunner('run', createFamily(NEVER, /^log$/)),
  submodule: createRunner('foreach', createFamily(/^deinit$/, /^(?:status|summary)?$/, /^(?:update|add)$/)),
}
