import TurndownService from 'turndown'

/** What is in a page but is not its text. */
const REMOVED_ELEMENTS = [
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'embed',
  'svg',
  'canvas',
  'form',
  'title',
] as const

export interface HtmlPage {
  readonly html: string
  /** Where it is, for the links in it. */
  readonly url: string
}

export interface MarkdownPage {
  readonly title: string
  readonly text: string
}

/** A page as Markdown, with its title. What takes long to read is read here: see `readPage`. */
export function toMarkdown({ html, url }: HtmlPage): MarkdownPage {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
  })
  service.remove((node) => REMOVED_ELEMENTS.some((name) => name === node.nodeName.toLowerCase()))
  service.addRule('images', { filter: 'img', replacement: (_, node) => formatImage(node) })
  service.addRule('links', {
    filter: (node) => node.nodeName === 'A' && node.hasAttribute('href'),
    replacement: (text, node) => formatLink(text, node, url),
  })
  return { title: extractTitle(html), text: service.turndown(html) }
}

function extractTitle(html: string): string {
  const [, title = ''] = /<title[^>]*>([^<]{0,1000})/i.exec(html) ?? []
  return new TurndownService({ headingStyle: 'atx' }).turndown(title).replaceAll(/\s+/g, ' ').trim()
}

/** Only what it shows: models cannot see it, and where it is would be fetched for nothing. */
function formatImage(node: TurndownService.Node): string {
  const alt = getAttribute(node, 'alt').trim()
  return alt === '' ? '' : `![${alt}]`
}

/** Links lead where they would from the page itself. What runs when it is clicked leads nowhere. */
function formatLink(text: string, node: TurndownService.Node, base: string): string {
  const target = getAttribute(node, 'href')
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined
  const label = text.trim()
  if (label === '' || url === undefined || !/^(?:https?|mailto):$/.test(url.protocol)) return text
  return `[${label}](${url.href})`
}

function getAttribute(node: TurndownService.Node, name: string): string {
  return 'getAttribute' in node ? (node.getAttribute(name) ?? '') : ''
}
