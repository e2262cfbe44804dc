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

/** Cache time in seconds for names and attributes that others may change without notice. */
const CACHE_SECONDS = 1
const INTERRUPT_AFTER_MS = 1000

const sendNotice = promisify(write)

/** Options of `mountFileSystem`. */
export interface FileSystemMountOptions extends MountTarget, Partial<FuseMountSettings> {
  /** Context of every call, for guards and journals. */
  readonly ctx?: Omit<CallContext, 'signal'>
  /** Reports changes by others, so that they are visible at once; the file system's own `watch` when absent. */
  readonly watch?: (ctx: CallContext) => AsyncIterable<PathChange>
  /** Cache time in seconds for names and attributes; 1 when absent. Use more only if `watch` reports every change. */
  readonly validSeconds?: number
  /** Directory on the disk with the files, whose free space `df` shows; a fixed amount when absent. */
  readonly disk?: string
  /** Time that a call may continue after its caller got a signal; one second when absent. */
  readonly interruptAfterMs?: number
}

/**
 * Mounts any file system, for use by other processes. This process serves it from its event loop.
 * It may therefore use the directory only without blocking, and must not start programs in it.
 * ENOENT if the directory does not exist; EEXIST if coppice has a mount there; ENOTSUP, EACCES or EPERM if this machine or
 * user cannot mount; EIO if mounting fails otherwise.
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
    send: (reply) => sendReply(fd, reply),
  })
  const ending = createSharedNumber()
  const work: FrameWorkerData = { fd, bufferBytes: BUFFER_BYTES, ending }
  const worker = startThread(import.meta.url, 'frame-worker', { workerData: work })
  worker.on('message', (frame: Uint8Array) => server.handle(Buffer.from(frame.buffer)))
  const mount = new FuseMount(directory, worker, work)
  const watching = new AbortController()
  const changes =
    options.watch ?? (isWatchable(fs) ? (inner: CallContext) => fs.watch('/', inner) : undefined)
  // If watching fails, changes by others become visible later; the mount continues.
  const notifying = notifyChanges(changes?.({ ...ctx, signal: watching.signal }), server, fd).catch(() => {})
  mount.beforeClose(async () => {
    watching.abort()
    await notifying
    await server.close()
  })
  return mount
}

/**
 * Notifies the kernel of changes until they end. Sending must not block this thread: the kernel may accept a notice only
 * after a reply to a request.
 */
async function notifyChanges(
  changes: AsyncIterable<PathChange> | undefined,
  server: PathServer,
  fd: number,
): Promise<void> {
  for await (const change of changes ?? []) {
    for (const notice of server.createNotices(change)) {
      // The kernel rejects a notice about something it has not cached.
      await sendNotice(fd, notice, 0, notice.length, null).catch(() => {})
    }
  }
}
