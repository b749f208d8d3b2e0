// The pages of the site: README.md, every page of docs, and every file that one of these leads to.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, extname, join, posix } from 'node:path'

// What a browser shows as it is; other files are shown as text.
const SHOWN = new Set(['.svg', '.png', '.pdf', '.json', '.txt'])
const LINK = /\]\(([^)\s]+)\)/g

/** A page without blocks and spans of code. */
function prose(text) {
  return text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '')
}

export function isExternal(link) {
  return /^[a-z]+:/.test(link)
}

/** The path, from the root of the sources, of what a page links to. */
export function targetOf(page, link) {
  return posix.join(posix.dirname(page), decodeURI(link.split('#')[0])).replace(/\/$/, '')
}

/** Where a page lies in the site. A README opens its folder. */
export function placeOf(page) {
  return page.replace(/(^|\/)README\.md$/, '$1index.md')
}

/** Where a file that is not a page lies in the site. */
export function fileOf(file) {
  return SHOWN.has(extname(file)) ? file : `${file}.txt`
}

/** All pages and files, as paths from the root of the sources; fails with every link that leads nowhere. */
export function collect(root) {
  const docs = readdirSync(join(root, 'docs'), { recursive: true })
    .map((name) => `docs/${name}`)
    .filter((name) => name.endsWith('.md') && !name.startsWith('docs/site/'))
  const pages = new Set(['README.md', ...docs.sort()])
  const files = new Set()
  const dead = []
  // A set that grows is walked to its end.
  for (const page of pages) {
    for (const [, link] of prose(readFileSync(join(root, page), 'utf8')).matchAll(LINK)) {
      if (isExternal(link) || link.startsWith('#')) continue
      const target = targetOf(page, link)
      if (!existsSync(join(root, target))) dead.push(`${page}: ${link}`)
      else if (statSync(join(root, target)).isDirectory()) continue
      else if (target.endsWith('.md')) pages.add(target)
      else files.add(target)
    }
  }
  if (dead.length) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`)
  return { pages: [...pages], files: [...files] }
}

/** Copies them, unchanged, to where the generator reads. */
export function stage(root, to) {
  const { pages, files } = collect(root)
  const copy = (file, place) => {
    mkdirSync(dirname(join(to, place)), { recursive: true })
    cpSync(join(root, file), join(to, place))
  }
  for (const page of pages) copy(page, placeOf(page))
  for (const file of files) {
    copy(file, join('public', fileOf(file)))
    // Figures are found beside the page that shows them.
    copy(file, file)
  }
  return { pages, files }
}

/** The heading of a page. */
export function titleOf(root, page) {
  return /^# (.*)$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1].replace(/`/g, '') ?? page
}

/** The sidebar: the sections of docs/README.md with the pages that each leads to, in its order. */
export function sidebar(root) {
  const index = 'docs/README.md'
  const seen = new Set([index])
  const items = (text) =>
    [...prose(text).matchAll(LINK)]
      .map(([, link]) => link)
      .filter((link) => !isExternal(link) && /\.md(#|$)/.test(link))
      .map((link) => targetOf(index, link))
      .filter((page) => !seen.has(page) && seen.add(page))
      .map((page) => ({ text: titleOf(root, page), link: href(page) }))
  const [head, ...sections] = readFileSync(join(root, index), 'utf8').split(/^## /m)
  return [
    { text: titleOf(root, index), items: [{ text: 'Overview', link: href(index) }, ...items(head)] },
    ...sections.map((section) => ({
      text: section.split('\n', 1)[0].replace(/`/g, ''),
      items: items(section),
    })),
  ].filter((group) => group.items.length)
}

function href(page) {
  return `/${placeOf(page)}`.replace(/index\.md$/, '').replace(/\.md$/, '.html')
}
