import type { Command, CommandGroup } from './command.ts'

/** A command, or a family of them, that is loaded when it is asked for: a start costs what the one command needs. */
export type CommandLoader = () => Promise<Command | CommandGroup>

/** Every first word of the CLI, in the groups of the overview. */
export const helpSections: Readonly<Record<string, Readonly<Record<string, CommandLoader>>>> = {
  'Start here': {
    exec: async () => (await import('./commands/exec.ts')).exec,
    demo: async () => (await import('./commands/demo.ts')).demo,
    tour: async () => (await import('./commands/tour.ts')).tour,
    import: async () => (await import('./commands/import.ts')).importDirectory,
    export: async () => (await import('./commands/export.ts')).exportDirectory,
    git: async () => (await import('./commands/git.ts')).git,
    vault: async () => (await import('./commands/vault.ts')).vault,
    mount: async () => (await import('./commands/mount.ts')).mount,
    unmount: async () => (await import('./commands/unmount.ts')).unmount,
  },
  'Fork, compare, merge': {
    fork: async () => (await import('./commands/fork.ts')).fork,
    diff: async () => (await import('./commands/diff.ts')).diff,
    merge: async () => (await import('./commands/merge.ts')).merge,
    apply: async () => (await import('./commands/apply.ts')).apply,
    drop: async () => (await import('./commands/drop.ts')).drop,
    checkpoint: async () => (await import('./commands/checkpoint.ts')).checkpoint,
  },
  'Who changed what': {
    log: async () => (await import('./commands/log.ts')).log,
    versions: async () => (await import('./commands/versions.ts')).versions,
    blame: async () => (await import('./commands/blame.ts')).blame,
    revert: async () => (await import('./commands/revert.ts')).revert,
  },
  Files: {
    ls: async () => (await import('./commands/ls.ts')).ls,
    cat: async () => (await import('./commands/cat.ts')).cat,
    write: async () => (await import('./commands/write.ts')).write,
    mkdir: async () => (await import('./commands/mkdir.ts')).mkdir,
    rm: async () => (await import('./commands/rm.ts')).rm,
    cp: async () => (await import('./commands/cp.ts')).cp,
    mv: async () => (await import('./commands/mv.ts')).mv,
    tree: async () => (await import('./commands/tree.ts')).tree,
    stat: async () => (await import('./commands/stat.ts')).stat,
    grep: async () => (await import('./commands/grep.ts')).grep,
    find: async () => (await import('./commands/find.ts')).find,
    search: async () => (await import('./commands/search.ts')).search,
    tag: async () => (await import('./commands/tag.ts')).tag,
    meta: async () => (await import('./commands/meta.ts')).meta,
  },
  Processes: {
    spawn: async () => (await import('./commands/spawn.ts')).spawn,
    ps: async () => (await import('./commands/ps.ts')).ps,
    kill: async () => (await import('./commands/kill.ts')).kill,
    wait: async () => (await import('./commands/wait.ts')).wait,
    attach: async () => (await import('./commands/attach.ts')).attach,
    logs: async () => (await import('./commands/logs.ts')).logs,
    strace: async () => (await import('./commands/strace.ts')).strace,
    steps: async () => (await import('./commands/steps.ts')).steps,
    answer: async () => (await import('./commands/answer.ts')).answer,
    agents: async () => (await import('./commands/agents.ts')).agents,
    skills: async () => (await import('./commands/agents.ts')).skills,
    tasks: async () => (await import('./commands/tasks.ts')).tasks,
    memory: async () => (await import('./commands/memory.ts')).memory,
    'mcp-servers': async () => (await import('./commands/mcp-servers.ts')).mcpServers,
    cron: async () => (await import('./commands/cron.ts')).cron,
    compose: async () => (await import('./commands/compose.ts')).compose,
    top: async () => (await import('./commands/top.ts')).top,
    daemon: async () => (await import('./commands/daemon.ts')).daemon,
  },
  Agents: {
    tool: async () => (await import('./commands/tool.ts')).tool,
    context: async () => (await import('./commands/context.ts')).context,
    cache: async () => (await import('./commands/cache.ts')).cache,
    approve: async () => (await import('./commands/approve.ts')).approve,
    mcp: async () => (await import('./commands/mcp.ts')).mcp,
  },
  'The home': {
    config: async () => (await import('./commands/config.ts')).config,
    policy: async () => (await import('./commands/policy.ts')).policy,
    quota: async () => (await import('./commands/quota.ts')).quota,
    send: async () => (await import('./commands/send.ts')).send,
    receive: async () => (await import('./commands/receive.ts')).receive,
    gc: async () => (await import('./commands/gc.ts')).gc,
    fsck: async () => (await import('./commands/fsck.ts')).fsck,
    doctor: async () => (await import('./commands/doctor.ts')).doctor,
    stats: async () => (await import('./commands/stats.ts')).stats,
    completion: async () => (await import('./commands/completion.ts')).completion,
  },
}

export function isCommandGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return 'commands' in entry
}

/** Every first word and what loads it. */
export function getLoaders(): Map<string, CommandLoader> {
  return new Map(Object.values(helpSections).flatMap((group) => Object.entries(group)))
}
