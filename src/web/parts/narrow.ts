import { type Signal, signal } from '@preact/signals'

const query = matchMedia('(max-width: 60rem)')

/** True where two columns of code do not fit beside each other. */
export const isNarrow: Signal<boolean> = signal(query.matches)

query.addEventListener('change', () => {
  isNarrow.value = query.matches
})
