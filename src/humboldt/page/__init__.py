"""One page that shows how models generalise: tables, figures, where every number comes from.

| file | what it does |
| --- | --- |
| `collect` | makes the content of the page from results, as plain data |
| `commands` | commands that reproduce a cell, or fill an empty one |
| `charts` | figures as Vega-Lite, by Altair; as SVG, PNG and PDF, by vl-convert |
| `inside` | internals of saved members, and the shortest strings that they get wrong |
| `write` | the page itself, by Jinja: `page.html`, `page.css`, `page.js` |

Suites define their figures; nothing here depends on one of them. Altair, vl-convert and Jinja come with the extra
`report`, and are imported only when needed.
"""
