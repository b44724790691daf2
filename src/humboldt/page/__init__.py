"""One page that shows how models generalise: tables, figures, where every number comes from.

| file | what it does |
| --- | --- |
| `collect` | from results to what the page shows, as plain data |
| `commands` | the command that makes a cell again, or fills one that is missing |
| `charts` | figures as Vega-Lite, by Altair; as SVG, PNG and PDF, by vl-convert |
| `inside` | what happens inside kept members, and the shortest strings that they get wrong |
| `write` | the page itself, by Jinja: `page.html`, `page.css`, `page.js` |

Suites say which figures they have; nothing here knows one of them. Altair, vl-convert and Jinja come with the extra
`report`, and are imported when they are needed.
"""
