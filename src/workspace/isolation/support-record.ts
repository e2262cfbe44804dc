import { readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTemporaryName, makePrivateFile } from '../../machine/index.ts'
import { getHostSupport, type HostSupport, rememberHostSupport } from './host-support.ts'
import { findTool } from './isolation-tools.ts'
import { forgetOverlays } from './overlay-support.ts'

/** Settings of the kernel that decide who may create namespaces. Not every kernel has each of them. */
const SETTINGS: readonly string[] = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
]
/** Lines of `/proc/self/status` about what this process may do. */
const PRIVILEGES = /^(?:Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):.*$/gm

interface SupportRecord {
  readonly fingerprint: string
  readonly support: HostSupport
}

/**
 * Remembers what an earlier process found out about this machine, unless something that may decide about it has changed
 * since. A record that is wrong nevertheless lets a command fail to start, never start with less isolation.
 *
 * @returns a function that records what this process has found out by then, if that is more and bubblewrap works.
 */
export async function recallHostSupport(file: string): Promise<() => void> {
  const fingerprint = await createFingerprint()
  const recorded = readRecord(file)
  const known = recorded?.fingerprint === fingerprint ? recorded.support : undefined
  if (known !== undefined) rememberHostSupport(known)
  return () => {
    const support = getHostSupport()
    const isMore = support?.overlays?.some((overlay) => known?.overlays?.includes(overlay) !== true) === true
    if (support?.hasBubblewrap === true && (known === undefined || isMore))
      writeRecord(file, { fingerprint, support })
  }
}

/** Forgets the record, after a command that could not be started. */
export function forgetHostSupport(file: string): void {
  forgetOverlays()
  rmSync(file, { force: true })
}

async function createFingerprint(): Promise<string> {
  const bubblewrap = await findTool('bwrap')
  return JSON.stringify([
    ...SETTINGS.map((path) => readIfPresent(path)),
    readIfPresent('/proc/self/status').match(PRIVILEGES) ?? [],
    readNamespace(),
    bubblewrap === undefined ? null : describeFile(bubblewrap),
  ])
}

function describeFile(path: string): readonly unknown[] {
  const { ino, dev, mtimeMs, mode, uid } = statSync(path)
  return [path, ino, dev, mtimeMs, mode, uid]
}

function readNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/user')
  } catch {
    // Not Linux.
    return ''
  }
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function readRecord(file: string): SupportRecord | undefined {
  try {
    const record: SupportRecord = JSON.parse(readFileSync(file, 'utf8'))
    return record
  } catch {
    // None yet, or cut off by a full disk.
    return undefined
  }
}

function writeRecord(file: string, record: SupportRecord): void {
  const draft = join(dirname(file), createTemporaryName())
  try {
    makePrivateFile(draft)
    writeFileSync(draft, JSON.stringify(record))
    renameSync(draft, file)
  } catch {
    // A home that cannot be written: every command probes.
    rmSync(draft, { force: true })
  }
}
