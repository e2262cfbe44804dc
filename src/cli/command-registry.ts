import type { Command, CommandGroup } from './framework/command.ts'

/** Loads a command or a group on use, so that a start pays for one command only. */
export type CommandLoader = () => Promise<Command | CommandGroup>

/** Commands that `coppice --help` lists; `coppice help --all` lists every one. */
export const firstCommands: readonly string[] = [
  'exec',
  'diff',
  'apply',
  'drop',
  'import',
  'fork',
  'merge',
  'log',
  'mcp',
  'doctor',
]

/** Every first word of the CLI, in the sections of `coppice help --all`. */
export const helpSections: Readonly<Record<string, Readonly<Record<string, CommandLoader>>>> = {
  'Start here': {
    exec: async () => (await import('./commands/start/exec.ts')).exec,
    enter: async () => (await import('./commands/start/enter.ts')).enter,
    demo: async () => (await import('./commands/start/demo.ts')).demo,
    tour: async () => (await import('./commands/start/tour.ts')).tour,
    import: async () => (await import('./commands/start/import.ts')).importDirectory,
    export: async () => (await import('./commands/start/export.ts')).exportDirectory,
    git: async () => (await import('./commands/start/git.ts')).git,
    vault: async () => (await import('./commands/start/vault.ts')).vault,
    ui: async () => (await import('./commands/start/ui.ts')).ui,
    mount: async () => (await import('./commands/start/mount.ts')).mount,
    unmount: async () => (await import('./commands/start/unmount.ts')).unmount,
  },
  'Fork, compare, merge': {
    forks: async () => (await import('./commands/fork/forks.ts')).forks,
    fork: async () => (await import('./commands/fork/fork.ts')).fork,
    diff: async () => (await import('./commands/fork/diff.ts')).diff,
    compare: async () => (await import('./commands/fork/compare.ts')).compare,
    merge: async () => (await import('./commands/fork/merge.ts')).merge,
    conflicts: async () => (await import('./commands/fork/conflicts.ts')).conflicts,
    resolve: async () => (await import('./commands/fork/resolve.ts')).resolve,
    apply: async () => (await import('./commands/fork/apply.ts')).apply,
    drop: async () => (await import('./commands/fork/drop.ts')).drop,
    prune: async () => (await import('./commands/fork/prune.ts')).prune,
    checkpoint: async () => (await import('./commands/fork/checkpoint.ts')).checkpoint,
  },
  'Undo agents outside of forks': {
    timeline: async () => (await import('./commands/undo/timeline.ts')).timeline,
    undo: async () => (await import('./commands/undo/undo.ts')).undo,
    redo: async () => (await import('./commands/undo/undo.ts')).redo,
    hooks: async () => (await import('./commands/undo/hooks.ts')).hooks,
    hook: async () => (await import('./commands/undo/hook.ts')).hook,
  },
  'Who changed what': {
    log: async () => (await import('./commands/history/log.ts')).log,
    versions: async () => (await import('./commands/history/versions.ts')).versions,
    blame: async () => (await import('./commands/history/blame.ts')).blame,
    revert: async () => (await import('./commands/history/revert.ts')).revert,
  },
  Files: {
    ls: async () => (await import('./commands/files/ls.ts')).ls,
    cat: async () => (await import('./commands/files/cat.ts')).cat,
    write: async () => (await import('./commands/files/write.ts')).write,
    mkdir: async () => (await import('./commands/files/mkdir.ts')).mkdir,
    rm: async () => (await import('./commands/files/rm.ts')).rm,
    cp: async () => (await import('./commands/files/cp.ts')).cp,
    mv: async () => (await import('./commands/files/mv.ts')).mv,
    tree: async () => (await import('./commands/files/tree.ts')).tree,
    stat: async () => (await import('./commands/files/stat.ts')).stat,
    grep: async () => (await import('./commands/files/grep.ts')).grep,
    find: async () => (await import('./commands/files/find.ts')).find,
    search: async () => (await import('./commands/files/search.ts')).search,
    tag: async () => (await import('./commands/files/tag.ts')).tag,
    meta: async () => (await import('./commands/files/meta.ts')).meta,
  },
  Processes: {
    spawn: async () => (await import('./commands/processes/spawn.ts')).spawn,
    ps: async () => (await import('./commands/processes/ps.ts')).ps,
    kill: async () => (await import('./commands/processes/kill.ts')).kill,
    message: async () => (await import('./commands/processes/message.ts')).message,
    resume: async () => (await import('./commands/processes/resume.ts')).resume,
    wait: async () => (await import('./commands/processes/wait.ts')).wait,
    attach: async () => (await import('./commands/processes/attach.ts')).attach,
    logs: async () => (await import('./commands/processes/logs.ts')).logs,
    strace: async () => (await import('./commands/processes/strace.ts')).strace,
    steps: async () => (await import('./commands/processes/steps.ts')).steps,
    answer: async () => (await import('./commands/processes/answer.ts')).answer,
    agents: async () => (await import('./commands/processes/agents.ts')).agents,
    skills: async () => (await import('./commands/processes/agents.ts')).skills,
    tasks: async () => (await import('./commands/processes/tasks.ts')).tasks,
    memory: async () => (await import('./commands/processes/memory.ts')).memory,
    'mcp-servers': async () => (await import('./commands/processes/mcp-servers.ts')).mcpServers,
    cron: async () => (await import('./commands/processes/cron.ts')).cron,
    compose: async () => (await import('./commands/processes/compose.ts')).compose,
    top: async () => (await import('./commands/processes/top.ts')).top,
    daemon: async () => (await import('./commands/processes/daemon.ts')).daemon,
  },
  Agents: {
    tool: async () => (await import('./commands/agents/tool.ts')).tool,
    context: async () => (await import('./commands/agents/context.ts')).context,
    cache: async () => (await import('./commands/agents/cache.ts')).cache,
    approve: async () => (await import('./commands/agents/approve.ts')).approve,
    mcp: async () => (await import('./commands/agents/mcp.ts')).mcp,
  },
  'The home': {
    home: async () => (await import('./commands/home/home.ts')).home,
    config: async () => (await import('./commands/home/config.ts')).config,
    policy: async () => (await import('./commands/home/policy.ts')).policy,
    profile: async () => (await import('./commands/home/profile.ts')).profile,
    quota: async () => (await import('./commands/home/quota.ts')).quota,
    push: async () => (await import('./commands/home/push.ts')).push,
    pull: async () => (await import('./commands/home/pull.ts')).pull,
    send: async () => (await import('./commands/home/send.ts')).send,
    receive: async () => (await import('./commands/home/receive.ts')).receive,
    gc: async () => (await import('./commands/home/gc.ts')).gc,
    fsck: async () => (await import('./commands/home/fsck.ts')).fsck,
    doctor: async () => (await import('./commands/home/doctor.ts')).doctor,
    stats: async () => (await import('./commands/home/stats.ts')).stats,
    completion: async () => (await import('./commands/home/completion.ts')).completion,
  },
}

export function isCommandGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return 'commands' in entry
}

/** Returns the name and the summary for a list of commands. */
export function getHelpEntry(entry: Command | CommandGroup): {
  readonly name: string
  readonly summary: string
} {
  return isCommandGroup(entry) ? entry : entry.definition
}

/** Returns the loader of each first word. */
export function getLoaders(): Map<string, CommandLoader> {
  return new Map(Object.values(helpSections).flatMap((group) => Object.entries(group)))
}
