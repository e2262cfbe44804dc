import { closeSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { startThread } from '../machine/index.ts'
import { type CallContext, type FileSystem, isWatchable, type PathChange } from '../vfs/index.ts'
import type { FrameWorkerData } from './frame-worker.ts'
import { sendReply } from './frames.ts'
import { createSharedNumber, FuseMount } from './fuse-mount.ts'
import { type FuseMountSettings, mountDevice } from './mounting/mount-command.ts'
import { type MountTarget, openMountDevice } from './mounting/open-mount-device.ts'
import { PathServer } from './paths/index.ts'
import { BUFFER_BYTES } from './serve-device.ts'

/** How long names and attributes may be remembered that others may change without a word. */
const CACHE_SECONDS = 1
const INTERRUPT_AFTER_MS = 1000

const sendNotice = promisify(write)

export interface FileSystemMountOptions extends MountTarget, Partial<FuseMountSettings> {
  /** Goes along with every call: who asks, for guards and journals. */
  readonly ctx?: Omit<CallContext, 'signal'>
  /** Tells of changes others make, so that they are seen at once; the file system's own `watch` when absent. */
  readonly watch?: (ctx: CallContext) => AsyncIterable<PathChange>
  /** How long the kernel may remember names and attributes; a second when absent. More is for who can tell of all changes. */
  readonly validSeconds?: number
  /** A directory of the disk that has the files, whose room `df` shows; an invented amount when absent. */
  readonly disk?: string
  /** How long a call may go on after the program that waits for it got a signal; a second when absent. */
  readonly interruptAfterMs?: number
}

/**
 * Mounts any file system. It can be used when this resolves, by other processes: this one answers them from its event
 * loop, so it may itself use the directory only without blocking, and start no program in it. ENOENT for no such directory, ENOTSUP, EACCES and
 * EPERM where this machine or user cannot mount.
 */
export async function mountFileSystem(fs: FileSystem, options: FileSystemMountOptions): Promise<FuseMount> {
  const {
    ctx = {},
    source = 'coppice',
    isReadOnly = false,
    allowsOthers = process.getuid?.() === 0,
  } = options
  const { fd, directory, isMounted } = await openMountDevice(options)
  try {
    if (!isMounted) await mountDevice(fd, directory, { source, isReadOnly, allowsOthers })
  } catch (error) {
    closeSync(fd)
    throw error
  }
  const server = new PathServer(fs, {
    ctx,
    owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    validity: { seconds: options.validSeconds ?? CACHE_SECONDS },
    disk: options.disk,
    interruptAfterMs: options.interruptAfterMs ?? INTERRUPT_AFTER_MS,
    send: (answer) => sendReply(fd, answer),
  })
  const ending = createSharedNumber()
  const work: FrameWorkerData = { fd, bufferBytes: BUFFER_BYTES, ending }
  const worker = startThread(import.meta.url, 'frame-worker', { workerData: work })
  worker.on('message', (frame: Uint8Array) => server.handle(Buffer.from(frame.buffer)))
  const mount = new FuseMount(directory, worker, work)
  const watching = new AbortController()
  const changes =
    options.watch ?? (isWatchable(fs) ? (inner: CallContext) => fs.watch('/', inner) : undefined)
  // Without it, what others change is seen later; the mount itself goes on.
  const telling = notifyChanges(changes?.({ ...ctx, signal: watching.signal }), server, fd).catch(() => {})
  mount.beforeClose(async () => {
    watching.abort()
    await telling
    await server.close()
  })
  return mount
}

/** Tells the kernel of changes. It may take a notice only once a request is answered: so this must not block. */
async function notifyChanges(
  changes: AsyncIterable<PathChange> | undefined,
  server: PathServer,
  fd: number,
): Promise<void> {
  for await (const change of changes ?? []) {
    for (const notice of server.createNotices(change)) {
      // It refuses a notice of what it does not remember anyway.
      await sendNotice(fd, notice, 0, notice.length, null).catch(() => {})
    }
  }
}
