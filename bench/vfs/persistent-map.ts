import type { Benchmark, SubjectEntry, Work } from '../harness/benchmark.ts'

/** The map of which our directories are made, beside those of libraries: the reason to have our own. */
export const persistentMap: Benchmark = {
  name: 'persistent-map',
  summary: 'the ordered map of our directories against the library sorted-btree',
  subjects: [subject('ordered-map'), subject('sorted-btree')],
  works: [
    rate('set-ordered', 'set 100,000 in order'),
    rate('set-shuffled', 'set 100,000 shuffled'),
    rate('get', 'get 100,000 shuffled'),
    rate('iterate-first', 'iterate 100,000, first time'),
    rate('iterate', 'iterate 100,000, again'),
    { id: 'fork-set', label: 'fork 100,000, set one', unit: 'time' },
    rate('directories-set', 'set in 1,000 maps of 100'),
    rate('directories-get', 'get in 1,000 maps of 100'),
    { id: 'directories-fork-set', label: 'fork 100, set one', unit: 'time' },
  ],
  targets: [],
  notes: [
    'Our leaves are hash maps that are sorted when first listed; hence the two rows of iteration.',
    'Maps of 100 names are what directories are: nearly all of them have fewer.',
  ],
}

function subject(name: string): SubjectEntry {
  const module = new URL(`./maps/${name}.ts`, import.meta.url)
  return { name, parts: [{ name: 'all', module }] }
}

function rate(id: string, label: string): Work {
  return { id, label, unit: 'rate' }
}
