import type { Unit } from './benchmark.ts'

/** From the largest unit to the smallest; the smallest also takes whatever is below it. */
type Scale = readonly [size: number, symbol: string][]

const TIME: Scale = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
]

const RATE: Scale = [
  [1e6, 'M/s'],
  [1e3, 'k/s'],
  [1, '/s'],
]

const BYTE_RATE: Scale = [
  [1024 ** 4, 'TiB/s'],
  [1024 ** 3, 'GiB/s'],
  [1024 ** 2, 'MiB/s'],
]

const BYTES: Scale = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'B'],
]

/** A measurement in the unit of its work: `1.2 M/s`, `8.4 µs`, `2.1 GiB/s`, `12 MB`, `3.0×`. */
export function formatMeasurement(value: number, unit: Unit): string {
  if (unit === 'time') return formatSeconds(value)
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'times') return formatRatio(value)
  if (unit === 'rate') return scaleValue(1 / value, RATE)
  return scaleValue(unit.throughput / value, BYTE_RATE)
}

export function formatBytes(bytes: number): string {
  return bytes === 0 ? '0 B' : scaleValue(bytes, BYTES)
}

export function formatSeconds(seconds: number): string {
  return scaleValue(seconds, TIME)
}

/** `0.42×`, `1.4×`, `38×`, `12,000×`. */
export function formatRatio(ratio: number): string {
  return `${roundValue(ratio)}×`
}

function scaleValue(value: number, scale: Scale): string {
  const [size, symbol] = scale.find(([from]) => value >= from) ?? scale.at(-1) ?? [1, '']
  return `${roundValue(value / size)} ${symbol}`
}

/** Rounds to two or three significant digits: more would pretend a precision that no benchmark has. */
function roundValue(value: number): string {
  if (value >= 1000) return Number(value.toPrecision(2)).toLocaleString('en-US')
  if (value >= 99.5) return value.toFixed(0)
  return value.toPrecision(value >= 0.01 ? 2 : 1)
}
