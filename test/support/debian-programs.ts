import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that tests start, and the Debian package of each. Tests that need one that is missing are skipped. */
const PACKAGES = {
  bwrap: 'bubblewrap',
  cc: 'gcc',
  'chromium-headless-shell': 'chromium-headless-shell',
  fusermount3: 'fuse3',
  git: 'git',
  make: 'make',
  'mkfs.ext4': 'e2fsprogs',
  pgbouncer: 'pgbouncer',
  python3: 'python3',
  rsync: 'rsync',
  sqlite3: 'sqlite3',
  strace: 'strace',
  tmux: 'tmux',
  vim: 'vim',
  xfs_io: 'xfsprogs',
} as const

export type DebianProgram = keyof typeof PACKAGES

export function hasProgram(program: DebianProgram): boolean {
  return isInstalled(program)
}

/** Returns the reason why a program cannot be started, or undefined if it can. */
export function whyNoProgram(program: DebianProgram): string | undefined {
  return isInstalled(program) ? undefined : `${program} is missing: apt-get install ${PACKAGES[program]}`
}

/** Returns the packages of all programs that are missing. */
export function findMissingPackages(): string[] {
  const missing = Object.entries(PACKAGES).filter(([program]) => !isInstalled(program))
  return missing.map(([, debianPackage]) => debianPackage)
}

export function isInstalled(program: string): boolean {
  // The PATH of an ordinary user may lack the directories with programs of administrators.
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return directories.some((directory) => isExecutable(join(directory, program)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
