import { type CorpusFile, listDirectories } from './corpus.ts'
import type { FileVolume, Volume } from './volume.ts'

/** Files with their full paths in a volume, made before the clock starts. */
export interface Population<V extends FileVolume = Volume> extends AsyncDisposable {
  readonly volume: V
  readonly files: readonly CorpusFile[]
  readonly directories: readonly string[]
}

/** A new volume in which the directories exist, but no file yet. */
export async function prepareVolume<V extends FileVolume>(
  subject: { open(): Promise<V> },
  corpus: readonly CorpusFile[],
): Promise<Population<V>> {
  const volume = await subject.open()
  const directories = listDirectories(corpus).map((path) => volume.root + path)
  for (const directory of directories) await volume.mkdir(directory)
  return {
    volume,
    files: corpus.map(({ path, bytes }) => ({ path: volume.root + path, bytes })),
    directories,
    [Symbol.asyncDispose]: () => volume[Symbol.asyncDispose](),
  }
}

/** A new volume with all the files in it. */
export async function populate<V extends FileVolume>(
  subject: { open(): Promise<V> },
  corpus: readonly CorpusFile[],
): Promise<Population<V>> {
  const population = await prepareVolume(subject, corpus)
  for (const { path, bytes } of population.files) await population.volume.write(path, bytes)
  return population
}

/** Fails the run unless files have exactly the bytes that were written. One in ten is enough to tell. */
export async function verifyContent({ volume, files }: Population<FileVolume>): Promise<void> {
  for (const { path, bytes } of files.filter((_, index) => index % 10 === 0)) {
    const found = await volume.read(path)
    if (Buffer.compare(Buffer.from(found), bytes) !== 0) throw new Error(`wrong content in ${path}`)
  }
}
