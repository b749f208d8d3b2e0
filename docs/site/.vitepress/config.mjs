import { existsSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileOf, isExternal, sidebar, targetOf } from '../pages.mjs'

const root = process.env.DOORBELL_HOME

/** An anchor as GitHub makes it of a heading. */
function slug(heading) {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
}

function escaped(code) {
  return code.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Leads links to where the pages and files are in the site. A folder of the sources is named, not linked. */
function links(md) {
  md.core.ruler.push('doorbell-links', (state) => {
    const page = state.env.relativePath.replace(/(^|\/)index\.md$/, '$1README.md')
    for (const token of state.tokens.flatMap((one) => one.children ?? [])) {
      const link = token.type === 'link_open' ? token.attrGet('href') : null
      if (!link || isExternal(link) || link.startsWith('#')) continue
      const target = targetOf(page, link)
      if (/\.md(#|$)/.test(link)) {
        token.attrSet('href', link.replace(/(^|\/)README\.md/, '$1index.md').replace(/^index\.md/, './index.md'))
      } else if (existsSync(join(root, target)) && statSync(join(root, target)).isDirectory()) {
        closeOf(state.tokens, token).tag = token.tag = 'span'
        token.attrs = [['class', 'source'], ['title', `${target} in the sources`]]
      } else {
        token.attrSet('href', posix.join('/', fileOf(target)))
        token.attrSet('target', '_blank')
      }
    }
  })
}

/** The token that ends a link. */
function closeOf(tokens, open) {
  const line = tokens.find((one) => one.children?.includes(open)).children
  return line.slice(line.indexOf(open)).find((one) => one.type === 'link_close')
}

export default {
  title: 'Doorbell',
  description: 'GPU-initiated communication on any machine',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'html',
  cacheDir: 'cache',
  metaChunk: true,
  // One page after the other, so that the index of words has one order and a site of one commit is equal to the byte.
  buildConcurrency: 1,
  // Addresses of the machine that the site is read on.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  vite: { build: { chunkSizeWarningLimit: 4000 }, logLevel: 'warn' },
  markdown: {
    // Text in pages is text: neither HTML nor a template.
    html: false,
    anchor: { slugify: slug },
    attrs: { disable: true },
    // Code has no colours: languages are loaded as pages need them, and which page comes first is chance.
    highlight: (code) => `<pre v-pre tabindex="0"><code>${escaped(code)}</code></pre>`,
    config(md) {
      links(md)
      md.core.ruler.before('normalize', 'doorbell-comments', (state) => {
        state.src = state.src.replace(/^<!--[\s\S]*?-->$/gm, '')
      })
      for (const kind of ['text', 'code_inline']) {
        const rule = md.renderer.rules[kind]
        md.renderer.rules[kind] = (...all) => rule(...all).replaceAll('{{', '&#123;&#123;')
      }
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sidebar(root),
    nav: [{ text: 'All pages', link: '/docs/' }],
    docFooter: { prev: false, next: false },
    externalLinkIcon: true,
  },
}
