/** Usual BM25 constants: saturation of repeated words, and penalty of long texts. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75
/** Inflectional endings, ignored in comparisons. */
const ENDING = /(?<=\p{L}{4})(?:ing|ed|es|s)$/u

export interface Ranked<Item> {
  readonly item: Item
  /** Higher is better; comparable within one ranking only. */
  readonly score: number
}

/** Returns the items with any word of a query, most relevant first, ranked by BM25. */
export function rankItems<Item extends { readonly text: string }>(
  query: string,
  items: readonly Item[],
): Ranked<Item>[] {
  const wanted = [...new Set(splitTerms(query))]
  const texts = items.map((item) => ({ item, terms: splitTerms(item.text) }))
  const mean = texts.reduce((sum, { terms }) => sum + terms.length, 0) / Math.max(1, texts.length)
  const counted = texts.map(({ item, terms }) => ({
    item,
    length: terms.length,
    counts: wanted.map((word) => terms.filter((term) => term === word).length),
  }))
  const rarity = wanted.map((_, index) => {
    const textsWithWord = counted.filter(({ counts }) => (counts[index] ?? 0) > 0).length
    return Math.log(1 + (counted.length - textsWithWord + 0.5) / (textsWithWord + 0.5))
  })
  return counted
    .map(({ item, length, counts }) => ({ item, score: computeScore(counts, rarity, length / mean) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
}

/** @param relativeLength length of the text divided by the mean */
function computeScore(counts: readonly number[], rarity: readonly number[], relativeLength: number): number {
  const norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relativeLength)
  return counts.reduce(
    (score, count, index) => score + ((rarity[index] ?? 0) * count * (SATURATION + 1)) / (count + norm),
    0,
  )
}

function splitTerms(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => word.replace(ENDING, ''))
}
