import assert from 'node:assert/strict'
import test from 'node:test'
import { openMetricsText } from './open-metrics.ts'

test('families become lines, and what is not measured is left out', () => {
  const text = openMetricsText(
    [
      {
        name: 'a_watts',
        type: 'gauge',
        unit: 'watts',
        help: 'Line one\nsays "C:\\".',
        samples: [
          [{ device: 'a"b\\c\nd' }, 1.5],
          [{ device: 'e' }, null],
        ],
      },
      { name: 'b_joules', type: 'counter', unit: 'joules', help: 'B.', samples: [[{}, 3]] },
      { name: 'c', type: 'info', help: 'C.', samples: [[{ name: 'Park' }, 1]] },
      { name: 'd', type: 'gauge', help: 'D.', samples: [[{}, null]] },
    ],
    { site_id: 'demo' },
  )
  assert.equal(
    text,
    [
      '# HELP a_watts Line one\\nsays \\"C:\\\\\\".',
      '# TYPE a_watts gauge',
      '# UNIT a_watts watts',
      'a_watts{site_id="demo",device="a\\"b\\\\c\\nd"} 1.5',
      '# HELP b_joules B.',
      '# TYPE b_joules counter',
      '# UNIT b_joules joules',
      'b_joules_total{site_id="demo"} 3',
      '# HELP c C.',
      '# TYPE c info',
      'c_info{site_id="demo",name="Park"} 1',
      '# EOF',
      '',
    ].join('\n'),
  )
})
