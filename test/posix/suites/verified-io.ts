import type { Check, Suite } from '../check.ts'
import { needTools } from '../debian-source.ts'
import type { Places } from '../places.ts'
import { succeed } from '../program.ts'

/** Each writes a file in its own way and reads it back; `fio` knows what must be there. */
const jobs: Readonly<Record<string, readonly string[]>> = {
  'sequential, plain calls': ['--ioengine=psync', '--rw=write', '--bs=128k'],
  'sequential, synced': ['--ioengine=psync', '--rw=write', '--bs=32k', '--fsync=16', '--size=4m'],
  'sequential, every write synced': ['--ioengine=sync', '--rw=write', '--bs=16k', '--sync=1', '--size=2m'],
  'sequential, mapped': ['--ioengine=mmap', '--rw=write', '--bs=64k'],
  'random, plain calls': ['--ioengine=psync', '--rw=randwrite', '--bs=4k'],
  'random, odd sizes': [
    '--ioengine=psync',
    '--rw=randwrite',
    '--bsrange=512-70k',
    '--bs_unaligned',
    '--norandommap',
  ],
  'random, mapped': ['--ioengine=mmap', '--rw=randwrite', '--bs=4k'],
  'random, past the cache': ['--ioengine=psync', '--rw=randwrite', '--bs=4k', '--direct=1', '--size=4m'],
  'random, asynchronous': ['--ioengine=libaio', '--iodepth=16', '--rw=randwrite', '--bs=8k'],
  'random, asynchronous, past the cache': [
    '--ioengine=libaio',
    '--iodepth=16',
    '--rw=randwrite',
    '--bs=8k',
    '--direct=1',
    '--size=4m',
  ],
  'random, vectors': ['--ioengine=vsync', '--rw=randwrite', '--bs=4k'],
  'reading and writing, four processes': [
    '--ioengine=psync',
    '--rw=randrw',
    '--bs=4k',
    '--numjobs=4',
    '--size=4m',
  ],
  'sparse, past the end': [
    '--ioengine=psync',
    '--rw=randwrite',
    '--bs=4k',
    '--size=64m',
    '--io_size=4m',
    '--fallocate=none',
  ],
  'trimmed to holes': ['--ioengine=falloc', '--rw=write', '--bs=64k'],
}

/** Content that is read back as it was written, by every way into a file. */
export const verifiedIo: Suite = {
  name: 'fio',
  about: 'fio with verification: sequential and random; buffered, mapped, synced, direct',
  async checks(places) {
    await needTools(['fio', 'fio'])
    return Object.entries(jobs).map(([name, settings], index) => job(places, name, index, settings))
  },
}

function job(places: Places, name: string, index: number, settings: readonly string[]): Check {
  return {
    name,
    async run() {
      const { mounted } = places.pair(`job-${index}`)
      // Engines that move no content have none to verify.
      const verification = settings.includes('--ioengine=falloc')
        ? []
        : ['--verify=crc32c', '--do_verify=1', '--verify_fatal=1']
      await succeed(['fio', '--name=job', '--size=16m', '--minimal', ...verification, ...settings], {
        cwd: mounted,
      })
    },
  }
}
